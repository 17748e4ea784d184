// FindPath: searches one path in a tree of the store, at the cost of the folders on the path. Pure.
// Works in cooked trees and in session trees; only FollowLinks follows links.
//
// A path is relative to the root and plain (plain_name.h); the empty path is the root itself.
//
// Errors: INVALID_ARGUMENT: the path is not plain, a folder on it is not canonical or deeper than
// kTreeDepthMax; else as `read`, so that NOT_FOUND means a folder that the store lacks. A path that
// the tree does not have is an answer, not an error.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/tree/tree.h"

namespace galley::tree {

// A folder. Only its digest is known: it was not read.
struct FoundFolder {
  std::string path;
  Digest digest;
  bool operator==(const FoundFolder&) const = default;
};
// A link, at which the search ended.
struct FoundLink {
  std::string path;    // of the link
  std::string target;  // relative to the folder that holds the link
  std::string rest;    // of the searched path, behind the link
  bool operator==(const FoundLink&) const = default;
};
// A path that the tree does not have.
struct AbsentPath {
  std::string path;
  // The longest beginning of `path` that the tree has: a folder, or a file that something was
  // searched in.
  std::string existing;
  bool operator==(const AbsentPath&) const = default;
};
// A path behind a link whose target the tree does not have. In a session tree this means "not
// cooked yet".
struct DanglingLink {
  std::string path;      // with its links followed
  std::string existing;  // as in AbsentPath
  bool operator==(const DanglingLink&) const = default;
};

using PathEntry = std::variant<TreeFile, FoundFolder, FoundLink, AbsentPath>;
// Searches without following links.
absl::StatusOr<PathEntry> FindPath(const Digest& root, std::string_view path, const ReadBlob& read);

// The paths in an answer are final: their links are followed. A path is an AbsentPath where the
// last link on it leads somewhere, and the tree has nothing at the rest of the path.
using FollowedPath = std::variant<TreeFile, FoundFolder, AbsentPath, DanglingLink>;
inline constexpr int kLinksOnPathMax = 40;
// Searches, and follows links. INVALID_ARGUMENT also: a link leaves the tree, or there are more
// than kLinksOnPathMax links on the path, as in a loop.
absl::StatusOr<FollowedPath> FollowLinks(const Digest& root, std::string_view path,
                                         const ReadBlob& read);

// The path to which a link leads, or the empty path for the root. REQUIRES: `link` is a plain path,
// and the target is IsLinkTarget (linked_directory.h). INVALID_ARGUMENT: the link leaves the tree.
absl::StatusOr<std::string> ResolveLink(std::string_view link, std::string_view target);

}  // namespace galley::tree
