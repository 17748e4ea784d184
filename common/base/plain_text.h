// IsAlphanumericOr: whether a name has plain characters only.
#pragma once

#include <algorithm>
#include <string_view>

#include "absl/strings/ascii.h"

namespace galley {

// Whether `c` is one of [A-Za-z0-9] or of `others`.
inline bool IsAlphanumericOr(char c, std::string_view others) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         others.find(c) != std::string_view::npos;
}

// Whether all characters of `text` are.
inline bool IsAlphanumericOr(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) { return IsAlphanumericOr(c, others); });
}

}  // namespace galley
