// Makes text of what a file or a program says, which may not be text, for messages that must be
// UTF-8 (protobuf strings, JSON, terminals).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace galley {

bool IsUtf8(std::string_view text);
// The code point at `at`, which moves behind it; nullopt (and `at` stays) where the bytes are not
// UTF-8. REQUIRES: at < text.size().
std::optional<char32_t> NextCodePoint(std::string_view text, size_t& at);
// Replaces each byte that is no part of a well-formed sequence by \xNN; the rest stays as it is.
std::string EscapeInvalidUtf8(std::string_view text);

}  // namespace galley
