// FollowPath: searches a path in a tree, and follows its links, at the cost of the folders on the
// way.
//
// Source: docs/formats.md, "What devices see". Threads: any; as `read`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "common/vfs/blob_id.h"
#include "common/vfs/result.h"

namespace galley::vfs {

// Returns the bytes of a folder, which are those of its digest.
using ReadFolder = std::function<Result<std::string>(const BlobId& folder)>;

struct FileAt {
  BlobId blob;
  bool is_executable = false;
};
struct FolderAt {
  BlobId blob;
};
// The path leads through a link whose target the tree does not have: it is not cooked yet.
struct NotCooked {};
struct NothingAt {};
using PathEntry = std::variant<FileAt, FolderAt, NotCooked, NothingAt>;

// `path`: plain, or empty for the root itself. Faults: those of `read`; GALLEY_VFS_DAMAGED: a
// folder of the tree is none, a link leaves the tree, or there are too many links.
Result<PathEntry> FollowPath(const BlobId& root, std::string_view path, const ReadFolder& read);

}  // namespace galley::vfs
