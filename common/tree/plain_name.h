// The names that may stand in a tree: names of one segment, and relative paths made of them.
#pragma once

#include <string_view>

namespace galley::tree {

// True for a path segment that every file system and person can live with: valid UTF-8, not empty,
// ".", or "..", without '/', '\\', control characters or NUL.
bool IsPlainSegment(std::string_view name);
// Plain segments joined by single '/': no '/' at either end.
bool IsPlainPath(std::string_view path);

}  // namespace galley::tree
