#include <algorithm>
#include <numeric>

#include "common/record/cooker_description.h"

namespace galley::record {
namespace {

constexpr size_t kComparedMax = 128;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Levenshtein's distance, without case; two rows.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = above[j] + (Lower(a[i]) == Lower(b[j]) ? 0 : 1);
      row[j + 1] = std::min({replaced, above[j + 1] + 1, row[j] + 1});
    }
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string Nearest(std::string_view text, const std::vector<std::string>& known) {
  text = text.substr(0, kComparedMax);
  // A third of the letters may be wrong.
  size_t distance_min = std::max<size_t>(1, (text.size() + 2) / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    const size_t distance = Distance(text, std::string_view(candidate).substr(0, kComparedMax));
    const bool is_nearer = distance < distance_min ||
                           (distance == distance_min && !nearest.empty() && candidate < nearest);
    if (!is_nearer) continue;
    distance_min = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace galley::record
