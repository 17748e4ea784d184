// UTF-8 for this folder: decoding, and names that are not UTF-8 made visible. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace galley::content {

// The code point at `at`, which moves behind it; nullopt (and `at` stays) where the bytes are not
// UTF-8. REQUIRES: at < text.size().
std::optional<char32_t> NextCodePoint(std::string_view text, size_t& at);

// `name` with control characters, backslashes and bytes that are not UTF-8 as \xNN. Two different
// names never look the same, and what was escaped is no valid virtual path, so it clashes with
// none.
std::string EscapeName(std::string_view name);

}  // namespace galley::content
