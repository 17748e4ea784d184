#include "common/base/utf8.h"

#include <cstddef>
#include <cstdint>

#include "fmt/format.h"

namespace galley {
namespace {

// Length of the well-formed sequence at the front, 0 if there is none.
// Source: Unicode 15, table 3-7.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<uint8_t>(text[i]) : 0; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const int first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (first == 0xe0 && second < 0xa0) return 0;
    if (first == 0xed && second > 0x9f) return 0;
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (first == 0xf0 && second < 0x90) return 0;
    if (first == 0xf4 && second > 0x8f) return 0;
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::optional<char32_t> NextCodePoint(std::string_view text, size_t& at) {
  const std::string_view rest = text.substr(at);
  const size_t length = SequenceLength(rest);
  if (length == 0) return std::nullopt;
  at += length;
  // The first byte of a longer sequence has as many leading ones as the sequence has bytes; each
  // byte behind it has six bits.
  char32_t c = static_cast<uint8_t>(rest[0]);
  if (length > 1) c &= 0x7fu >> length;
  for (size_t i = 1; i < length; ++i) c = c << 6 | (static_cast<uint8_t>(rest[i]) & 0x3f);
  return c;
}

std::string EscapeInvalidUtf8(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    if (length == 0) escaped += fmt::format("\\x{:02x}", static_cast<uint8_t>(text[0]));
    escaped += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return escaped;
}

}  // namespace galley
