// FolderReader: reads the folders of trees, for walks. Errors name the folder.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/tree/directory_codec.h"
#include "common/tree/linked_directory.h"
#include "common/tree/tree.h"

namespace galley::tree {

class FolderReader {
 public:
  // `read` must outlive the reader.
  FolderReader(const ReadBlob& read, Links links) : read_(read), links_(links) {}

  // `path`: of the folder in its tree, for errors; empty for the root, whose `depth` is 1.
  // INVALID_ARGUMENT: not canonical, or deeper than kTreeDepthMax; else as `read`.
  absl::StatusOr<LinkedDirectory> Read(const Digest& digest, std::string_view path,
                                       size_t depth) const;

 private:
  const ReadBlob& read_;
  const Links links_;
};

// The path of `name` in a folder; the path of the root is empty.
std::string JoinTreePath(std::string_view folder, std::string_view name);

}  // namespace galley::tree
