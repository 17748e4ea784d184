#include "director/devices/path_order.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace galley::devices {

int ComparePaths(std::string_view a, std::string_view b) {
  const size_t size = std::min(a.size(), b.size());
  const auto differ =
      std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(size), b.begin());
  const auto at = static_cast<size_t>(differ.first - a.begin());
  if (at == size) return (a.size() > size) - (b.size() > size);
  const auto weight = [](char c) { return c == '/' ? -1 : int{static_cast<uint8_t>(c)}; };
  return weight(a[at]) < weight(b[at]) ? -1 : 1;
}

bool LiesBelow(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path[folder.size()] == '/' && path.starts_with(folder);
}

bool Hides(const EntryShape& other, const EntryShape& entry) {
  const bool is_below = LiesBelow(other.folded, entry.folded);
  const bool is_above = LiesBelow(entry.folded, other.folded);
  const bool is_equal = other.folded == entry.folded;
  if (entry.is_more) return is_equal || is_below || (is_above && !other.is_more);
  return !other.is_more && (is_equal || is_below || is_above);
}

}  // namespace galley::devices
