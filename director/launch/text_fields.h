// TextFields: splits the output of programs into lines, fields and numbers. Debian's abseil has its
// own string_view, so its functions do not accept std::string_view.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace galley::director {

// Returns at most `parts_max` parts: the last part holds the rest.
inline std::vector<std::string> SplitAt(std::string_view text, char separator,
                                        size_t parts_max = SIZE_MAX) {
  std::vector<std::string> parts;
  while (parts.size() + 1 < parts_max) {
    const size_t end = text.find(separator);
    if (end == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.emplace_back(text);
  return parts;
}

inline std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  constexpr std::string_view kSpace = " \t\r\n";
  for (size_t at = text.find_first_not_of(kSpace); at != std::string_view::npos;
       at = text.find_first_not_of(kSpace, at)) {
    const size_t end = std::min(text.find_first_of(kSpace, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace galley::director
