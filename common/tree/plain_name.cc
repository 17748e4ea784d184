#include "common/tree/plain_name.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace galley::tree {
namespace {

// Length of the well-formed sequence at the front, 0 if there is none. Source: Unicode 15, table
// 3-7.
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

bool IsPlainSegment(std::string_view name) {
  if (name.empty() || name == "." || name == "..") return false;
  const auto refused = [](char c) {
    return static_cast<uint8_t>(c) < 0x20 || c == 0x7f || c == '/' || c == '\\';
  };
  return std::none_of(name.begin(), name.end(), refused) && IsUtf8(name);
}

bool IsPlainPath(std::string_view path) {
  while (true) {
    const size_t slash = path.find('/');
    if (!IsPlainSegment(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace galley::tree
