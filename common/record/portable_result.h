// PortableResult: a result as it is sent to and from remote stores (REAPI). It is as EncodeResult
// writes it, unless it has many outputs: an ActionResult is one gRPC message, which most servers
// limit to 4 MiB, so with more than kOutputFilesMax outputs the outputs in ".d/" become one output
// directory:
//
//   output_directories  path "out/output.d", tree_digest, is_topologically_sorted, and
//                       root_directory_digest: both, since a server may check either
//
// Tree { root = 1, children = 2 }: canonical Directories, each once, parents before children. Our
// own stores keep results as EncodeResult writes them, so that no blob must be read to know the
// blobs of a result. Keys do not depend on the form.
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
  // Blobs that `bytes` names and EncodePortable made: the details, the tree and its Directories.
  std::vector<std::pair<Digest, std::string>> blobs;
};
PortableResult EncodePortable(const Result& result);

// Reads either form. `read` is called for a tree, and for details that the server took out of the
// result; its errors are returned. Other errors as DecodeResult; RESOURCE_EXHAUSTED: more than
// kPortableOutputsMax outputs. Both forms give the same Result: EncodeResult of it is what our own
// stores keep.
absl::StatusOr<Result> DecodePortable(std::string_view bytes, const tree::ReadBlob& read);

}  // namespace galley::record
