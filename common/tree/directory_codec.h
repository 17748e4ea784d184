// The code that Directory and LinkedDirectory share: the wire form of both is one message.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/tree/linked_directory.h"
#include "common/tree/tree.h"

namespace galley::tree {

// Whether a tree may have symbolic links: session trees may, cooked trees may not.
enum class Links { kRefused, kAllowed };

std::string EncodeNodes(const std::vector<FileNode>& files,
                        const std::vector<DirectoryNode>& directories,
                        const std::vector<LinkNode>& links);

// Errors as DecodeLinkedDirectory; where links are refused, a link is a field that the message does
// not have, and the answer has no links.
absl::StatusOr<LinkedDirectory> DecodeNodes(std::string_view bytes, Links links);

}  // namespace galley::tree
