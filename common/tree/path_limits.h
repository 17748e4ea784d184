// Limits of names in a tree: the same on every machine, so that a root is the same, too.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace galley::tree {

// NAME_MAX of Linux and macOS, and the limit of NTFS for ASCII.
inline constexpr size_t kSegmentBytesMax = 255;
// PATH_MAX of Linux without the NUL byte that ends a path.
inline constexpr size_t kPathBytesMax = 4095;

// The fault of a path, and what to do: "it has a name of 261 bytes, ...". Empty: it is short
// enough.
std::string PathFault(std::string_view path);

}  // namespace galley::tree
