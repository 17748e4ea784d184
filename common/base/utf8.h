// UTF-8: makes valid UTF-8 of bytes of files and programs, for protobuf, JSON and terminals.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace galley {

bool IsUtf8(std::string_view text);
// Returns the code point at `at`, and moves `at` behind it. nullopt: the bytes are not UTF-8, and
// `at` stays. REQUIRES: at < text.size().
std::optional<char32_t> NextCodePoint(std::string_view text, size_t& at);
// Replaces each byte outside a well-formed sequence by \xNN; the other bytes stay.
std::string EscapeInvalidUtf8(std::string_view text);

}  // namespace galley
