// IsLfsPointer: recognises the small text file that Git LFS leaves in place of a file that was not
// fetched. Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace galley::content {

// A larger file is never a pointer.
// Source: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md, "less than 1024 bytes".
inline constexpr uint64_t kLfsPointerBytesMax = 1'024;
// A smaller file has no room for the first line of a pointer.
inline constexpr uint64_t kLfsPointerBytesMin = 30;

// True: the first line is `version URL` of a version of Git LFS, old versions too. Blanks in front,
// CR LF, lines of extensions, a cut end, and marks of a merge make no difference. `head`: the first
// bytes of a file; the whole file if it has at most kLfsPointerBytesMax.
bool IsLfsPointer(std::string_view head);

// IsLfsPointer for a whole file; false if the file is too large for a pointer.
bool IsLfsPointerFile(std::string_view bytes);

}  // namespace galley::content
