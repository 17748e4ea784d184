#include "common/tree/folder_reader.h"

#include <fmt/format.h>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::tree {

absl::StatusOr<LinkedDirectory> FolderReader::Read(const Digest& digest, std::string_view path,
                                                   size_t depth) const {
  const std::string what =
      fmt::format("folder {} ({})", path.empty() ? "/" : path, digest.ToString());
  if (depth > kTreeDepthMax) {
    return InvalidArgumentError("{}: more than {} levels deep", what, kTreeDepthMax);
  }
  const absl::StatusOr<Blob> blob = read_(digest);
  if (!blob.ok()) return Annotate(blob.status(), what);
  absl::StatusOr<LinkedDirectory> directory = DecodeNodes(**blob, links_);
  if (!directory.ok()) return Annotate(directory.status(), what);
  return directory;
}

std::string JoinTreePath(std::string_view folder, std::string_view name) {
  return folder.empty() ? std::string(name) : fmt::format("{}/{}", folder, name);
}

}  // namespace galley::tree
