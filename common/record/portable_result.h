// A result as it travels to and from remote stores (REAPI): as EncodeResult writes it, but for one
// with many outputs. An ActionResult is one gRPC message, of at most 4 MiB at most servers; so
// above kOutputFilesMax those that lie in ".d/" become one output directory:
//
//   output_directories  path "out/output.d", tree_digest, is_topologically_sorted, and
//                       root_directory_digest: both, so that servers check what it names whichever
//                       of the two they look at
//
// Tree { root = 1, children = 2 }: canonical Directories, each once, parents before children. Our
// own stores keep results as EncodeResult writes them: nobody has to read a blob to know what a
// result names. Keys do not depend on any of this.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/record/result.h"
#include "common/tree/tree.h"

namespace galley::record {

inline constexpr size_t kOutputFilesMax = 64;
// The limit for one result: a small tree of shared folders can name very many outputs.
inline constexpr size_t kPortableOutputsMax = 1'000'000;

struct PortableResult {
  std::string bytes;  // an ActionResult
  // Blobs that `bytes` names and that are made here: the details, the tree and its Directories.
  std::vector<std::pair<Digest, std::string>> blobs;
};
PortableResult EncodePortable(const Result& result);

// Reads either form. `read` is asked for a tree, and for details that the server took out of the
// result; what it answers is the answer. Errors else as DecodeResult; RESOURCE_EXHAUSTED: more than
// kPortableOutputsMax outputs. What is returned says nothing of how it came: EncodeResult of it is
// what our own stores keep.
absl::StatusOr<Result> DecodePortable(std::string_view bytes, const tree::ReadBlob& read);

}  // namespace galley::record
