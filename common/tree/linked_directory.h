// Session trees: REAPI v2 Directory messages with symbolic links, in canonical form. Pure.
//
// Session trees are a type of their own: cooked trees (tree.h) refuse links. A Directory without
// links has the same bytes in both types.
//
// Canonical: files, then directories, then links, each sorted by name bytes, no name twice in the
// three lists; no properties, times, or folders without entries; is_executable only where true. A
// digest is of the bytes as received: stored bytes are never serialised again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tree/tree.h"

namespace galley::tree {

// A symbolic link. The target is relative to the folder that holds the link (IsLinkTarget); whether
// something is there, and whether the link stays in its tree, is seen where links are followed
// (find_path.h).
struct LinkNode {
  std::string name;
  std::string target;
  bool operator==(const LinkNode&) const = default;
};
struct LinkedDirectory {
  std::vector<FileNode> files;
  std::vector<DirectoryNode> directories;
  std::vector<LinkNode> links;
  bool operator==(const LinkedDirectory&) const = default;
};

inline constexpr size_t kLinkTargetBytesMax = 4096;

// True for plain segments (plain_name.h) joined by single '/', which any number of ".." may
// precede: "../../resource/1f/a.ktx2", "..". At most kLinkTargetBytesMax bytes.
bool IsLinkTarget(std::string_view target);

// Writes the lists as they are. DecodeLinkedDirectory takes the bytes if the lists are canonical.
std::string EncodeLinkedDirectory(const LinkedDirectory& directory);
// INVALID_ARGUMENT: not canonical: order, duplicates across the lists, names that are not one plain
// segment, targets that are not IsLinkTarget, unknown fields, properties.
absl::StatusOr<LinkedDirectory> DecodeLinkedDirectory(std::string_view bytes);

}  // namespace galley::tree
