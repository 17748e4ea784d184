#include "common/record/source_names.h"

#include <algorithm>

namespace galley::record {
namespace {

constexpr std::string_view kDigits = "0123456789";

// The offset in a line at which "NAME:<line>:" may begin.
size_t BeginOfPlace(std::string_view line) {
  for (const std::string_view mark : {"ERROR: ", "WARNING: "}) {
    if (const size_t at = line.find(mark); at != std::string_view::npos) return at + mark.size();
  }
  return 0;
}

// The name of the place that `text` begins with; empty: it begins with none.
std::string_view NameOfPlace(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const size_t end = text.find_first_not_of(kDigits, colon + 1);
  const bool has_line = end != std::string_view::npos && end > colon + 1 && text[end] == ':';
  const std::string_view name = text.substr(0, colon);
  const bool is_file = name == kSourceName || name.find('.') != std::string_view::npos;
  return has_line && is_file ? name : std::string_view();
}

}  // namespace

std::string NameSources(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view name)>& name_of) {
  std::string named;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    const size_t begin = BeginOfPlace(line);
    const std::string_view name = NameOfPlace(line.substr(begin));
    const std::optional<std::string> file = name.empty() ? std::nullopt : name_of(name);
    if (!file) {
      named += line;
      continue;
    }
    named.append(line.substr(0, begin)).append(*file).append(line.substr(begin + name.size()));
  }
  return named;
}

}  // namespace galley::record
