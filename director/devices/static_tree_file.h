// The file in which a StaticTree is kept beside the standing of its platform, so that the next
// director edits the tree and does not build it anew. A sealed text (common/base/sealed_text.h):
//
//   galley-static 2
//   root <64 hex>/<size>
//   named_more <path>                   of StaticTree::outputs_named_more
//   file <64 hex>/<size> <x or -> <path>       a hidden file; x: executable
//   link <64 hex of the node> <names> <path>   a hidden link to an output
//   more <64 hex of the node> <names> <path>   a hidden link to what only a cook tells
//   sum <SHA-256 of all lines before>
//
// The lines have the order of the lists. Version rule: that of sealed texts.
// Threads: none; pure functions.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "director/devices/static_tree.h"

namespace galley::devices {

inline constexpr int kStaticTreeVersion = 2;

std::string EncodeStaticTree(const StaticTree& tree);
// DATA_LOSS: damaged, or a line that EncodeStaticTree does not write. FAILED_PRECONDITION: of
// another version. In both cases the tree is built anew.
absl::StatusOr<StaticTree> DecodeStaticTree(std::string_view text);

}  // namespace galley::devices
