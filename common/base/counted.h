// Counted: a number with its noun, as people write it: "1 package", "3 packages".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace galley {

// `noun`: the singular; `nouns`: the plural, "" for `noun` with an s.
inline std::string Counted(uint64_t count, std::string_view noun, std::string_view nouns = "") {
  std::string text = std::to_string(count) + " ";
  if (count == 1) return text.append(noun);
  return nouns.empty() ? text.append(noun).append("s") : text.append(nouns);
}

}  // namespace galley
