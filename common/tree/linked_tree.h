// Session trees in bulk: their files and links, and how two of them differ. Pure. Cooked trees are
// session trees without links, so these functions take both.
//
// Errors: as ListTree; links count as files. Links are not followed.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/tree/tree.h"

namespace galley::tree {

struct TreeLink {
  std::string path;    // no leading '/'
  std::string target;  // relative to the folder that holds the link
  bool operator==(const TreeLink&) const = default;
};

// The entries of a tree, each list sorted by path.
struct LinkedTree {
  std::vector<TreeFile> files;
  std::vector<TreeLink> links;
  bool operator==(const LinkedTree&) const = default;
};

// Lists the files and links under `root`. RESOURCE_EXHAUSTED: more than `entries_max`.
absl::StatusOr<LinkedTree> ListLinkedTree(const Digest& root, const ReadBlob& read,
                                          size_t entries_max = kTreeFilesMax);

struct LinkDifference {
  // Never kRenamed: two links with one target are nothing unusual.
  Difference::Kind kind = Difference::Kind::kAdded;
  TreeLink before;  // not for kAdded
  TreeLink after;   // not for kRemoved
  bool operator==(const LinkDifference&) const = default;

  // The path of the link now, or before if it was removed.
  const std::string& path() const {
    return kind == Difference::Kind::kRemoved ? before.path : after.path;
  }
};

// The differences of two trees, each list sorted by path. A link that became a file is one removal
// and one addition.
struct LinkedDifferences {
  std::vector<Difference> files;
  std::vector<LinkDifference> links;
  bool operator==(const LinkedDifferences&) const = default;
};

// Equal sub-folders are not read.
absl::StatusOr<LinkedDifferences> DiffLinkedTrees(const Digest& before, const Digest& after,
                                                  const ReadBlob& read);

}  // namespace galley::tree
