// DiffTrees: which paths of two trees of one project lead to other files. Folders that both trees
// have are read for their links only, so whoever has the older tree fetches what has changed.
//
// A package that was cooked anew has another node under `resource`, and the links to it stay as
// they are. So the nodes are compared first, and then the links under `static` that lead to them.
//
// Cost: the folders of `static` of one tree, and the folders of both that differ.
// Source: docs/formats.md, "What devices see". Threads: any; as `read`.
#pragma once

#include <functional>
#include <string>

#include "common/vfs/blob_id.h"
#include "common/vfs/result.h"
#include "common/vfs/tree_path.h"

namespace galley::vfs {

// PathDifference: `kind` is one of galley_vfs_change_kind. ADDED and REMOVED: the path; MODIFIED:
// its file may be another one; STALE: the same, and it is not cooked in the newer tree. A path that
// ends in ".d" or "/_gen" may be a link to a folder, and stands for all that is in it.
struct PathDifference {
  int kind = 0;
  std::string path;
};

// Tells the differences, by path in each folder, until `tell` answers false. Generated packages
// have no links, so one that was cooked anew while its generator stayed the same is not told.
// Faults: those of `read`; GALLEY_VFS_DAMAGED: a folder of a tree is none.
Outcome DiffTrees(const BlobId& before, const BlobId& after, const ReadFolder& read,
                  const std::function<bool(const PathDifference&)>& tell);

}  // namespace galley::vfs
