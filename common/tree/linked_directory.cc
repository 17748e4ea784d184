#include "common/tree/linked_directory.h"

#include "common/tree/directory_codec.h"
#include "common/tree/plain_name.h"

namespace galley::tree {

bool IsLinkTarget(std::string_view target) {
  if (target.size() > kLinkTargetBytesMax) return false;
  while (target.starts_with("../")) target.remove_prefix(3);
  return target == ".." || IsPlainPath(target);
}

std::string EncodeLinkedDirectory(const LinkedDirectory& directory) {
  return EncodeNodes(directory.files, directory.directories, directory.links);
}

absl::StatusOr<LinkedDirectory> DecodeLinkedDirectory(std::string_view bytes) {
  return DecodeNodes(bytes, Links::kAllowed);
}

}  // namespace galley::tree
