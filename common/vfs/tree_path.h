// FollowPath: searches a path in a tree, and follows its links, at the cost of the folders on the
// way.
//
// Source: docs/formats.md, "What devices see". Threads: any; as `read`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "common/vfs/blob_id.h"
#include "common/vfs/result.h"

namespace galley::vfs {

// FolderBytes: an encoded folder, or a list, shared by all who look into it.
class FolderBytes {
 public:
  FolderBytes(std::string bytes) : bytes_(std::make_shared<const std::string>(std::move(bytes))) {}
  operator std::string_view() const { return *bytes_; }

 private:
  std::shared_ptr<const std::string> bytes_;
};

// Returns the bytes of a folder, which are those of its digest.
using ReadFolder = std::function<Result<FolderBytes>(const BlobId& folder)>;

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
