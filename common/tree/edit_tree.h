// EditTree: removes and adds a few files of a tree, at the cost of the folders that they are in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tree/tree.h"

namespace galley::tree {

struct EditedTree {
  Digest root;
  std::map<Digest, std::string> directories;  // canonical bytes of folders that were read or made
};

// The tree `root` without `removed` and with `added`; a path in both is replaced. The result is
// what BuildTree makes of these files. Other folders are not read. FAILED_PRECONDITION: a removed
// file is not there; or an added one may be in conflict (Conflict) with another, or with a file
// that stays, in which case only BuildTree can say so. Errors as ListTree.
absl::StatusOr<EditedTree> EditTree(const Digest& root, const std::vector<std::string>& removed,
                                    const std::vector<TreeFile>& added, const ReadBlob& read,
                                    const std::function<std::string(std::string_view)>& fold);

}  // namespace galley::tree
