// Checks ActionResults of the Remote Execution API, which anybody may send, and lists the blobs
// that they name. Pure; needs no protobuf, and allocates nothing on the word of a size in the
// message.
//
// Stricter than protobuf where readers may differ: refuses a second occurrence of a field that is
// not repeated, which other readers merge with the first, and a field of another wire type. Skips
// unknown fields, since the API grows.
// Source: proto/build/bazel/remote/execution/v2/remote_execution.proto.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/digest.h"

namespace galley::store {

// Limits of a read.
inline constexpr size_t kActionResultBytesMax = 80 << 20;
inline constexpr uint64_t kFolderBytesMax = 256ull << 20;  // of one Tree or Directory
inline constexpr size_t kNamedBlobsMax = 2'000'000;

// INVALID_ARGUMENT, naming the fault: `bytes` are no ActionResult; an output has no digest; a
// digest has a negative size, or size 0 with another hash; a path is not relative and plain
// (plain_name.h; the path of an output folder may be empty), or comes twice; inlined contents do
// not have their digest. RESOURCE_EXHAUSTED: more than kActionResultBytesMax.
absl::Status ValidateActionResult(std::string_view bytes);

// Returns the bytes of a Tree or Directory. NOT_FOUND: the Tree or Directory is absent, so the
// blobs that it names are unknown.
using ReadFolder = std::function<absl::StatusOr<Blob>(const Digest&)>;

// Returns every blob without which the result is useless, each once, in the order of the first
// mention: output files; Trees and their files; root Directories, the Directories below them, and
// all their files; standard output and error. A folder that `read` does not find is listed without
// its contents: the result is incomplete in any case. INVALID_ARGUMENT: `bytes` are no
// ActionResult, or a named folder is no folder. RESOURCE_EXHAUSTED: a limit. Other errors: those of
// `read`.
absl::StatusOr<std::vector<Digest>> NamedBlobs(std::string_view bytes, const ReadFolder& read);

}  // namespace galley::store
