#include "common/tree/plain_name.h"

#include <algorithm>
#include <cstdint>

#include "common/base/utf8.h"

namespace galley::tree {
bool IsPlainSegment(std::string_view name) {
  if (name.empty() || name == "." || name == "..") return false;
  const auto refused = [](char c) {
    return static_cast<uint8_t>(c) < 0x20 || c == 0x7f || c == '/' || c == '\\';
  };
  return std::ranges::none_of(name, refused) && IsUtf8(name);
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
