// Names: virtual paths and references. Pure.
//
// A virtual path begins with '/', has no empty, "." or ".." segment, no trailing '/', is valid
// UTF-8 without control characters, '\\' or NUL, segments at most 255 bytes, 4,096 in all. A
// package's name is its virtual path with its extension, case kept.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley::content {

// INVALID_ARGUMENT says which rule is broken.
absl::Status ValidateVirtualPath(std::string_view path);
// "/Game/a/b.png" -> "/Game/a"; "/Game" -> "/".
std::string_view FolderOf(std::string_view path);
// "/Game/a/b.PNG" -> "png"; of "a.tar.gz" "gz"; none: "".
std::string ExtensionOf(std::string_view path);
// True when `path` is `folder` or lies under it ("/" and "" hold everything).
bool IsUnder(std::string_view path, std::string_view folder);

// Normalizes a reference or an asked path: '\\' is read as '/', "." and inner ".." are resolved,
// double '/' are joined. Absolute stays absolute, relative stays relative (leading ".." kept). No
// trailing '/'; the source's own folder is ".", the root "/". INVALID_ARGUMENT: empty, control
// characters, not UTF-8, an absolute path that leaves "/".
absl::StatusOr<std::string> NormalizeAsked(std::string_view path);
// Joins a normal asked path to the folder of `package`. INVALID_ARGUMENT when it leaves "/".
absl::StatusOr<std::string> ResolveAsked(std::string_view package, std::string_view asked);

// `name` with control characters, backslashes and bytes that are not UTF-8 as \xNN. Different names
// stay different. An escaped name is no valid virtual path, so it never equals a file's path.
std::string EscapeName(std::string_view name);

// `path` folded for comparison without case and Unicode form (NFC, full case folding; utf8proc).
// Two files of one folder with the same fold clash.
std::string FoldName(std::string_view path);

}  // namespace galley::content
