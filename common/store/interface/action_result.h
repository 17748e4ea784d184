// ActionResults of the Remote Execution API as anybody may send them: whether one may be kept, and
// which blobs it stands for. Pure; protobuf is not needed, and nothing is allocated for what a
// number in the message only promises.
//
// Stricter than protobuf where readers may differ: a field that may be there once is refused when
// it comes twice (others merge the two), and so is one of another wire type. Unknown fields are
// skipped, since the API grows.
// Source: proto/build/bazel/remote/execution/v2/remote_execution.proto.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/blob.h"
#include "common/base/digest.h"

namespace galley::store {

// Limits of what is read.
inline constexpr size_t kActionResultBytesMax = 80 << 20;
inline constexpr uint64_t kFolderBytesMax = 256ull << 20;  // of one Tree or Directory
inline constexpr size_t kNamedBlobsMax = 2'000'000;

// INVALID_ARGUMENT says what is wrong: bytes that are no ActionResult; an output without a digest;
// a digest that is none (a negative size, a size of 0 with the hash of something); a path that is
// not relative and plain (plain_name.h; that of an output folder may be empty) or is there twice;
// contents that are not what their digest says. RESOURCE_EXHAUSTED: more than
// kActionResultBytesMax.
absl::Status ValidateActionResult(std::string_view bytes);

// Bytes of a Tree or Directory. NOT_FOUND: it is absent, so what it names is not known.
using ReadFolder = std::function<absl::StatusOr<Blob>(const Digest&)>;

// Every blob that has to be there for the result to be of use, each once, in the order of the first
// mention: output files; Trees and the files in them; root Directories, those below them, and the
// files in those; standard output and error. A folder that `read` does not find is named itself,
// and is left at that: the result is not complete anyway. INVALID_ARGUMENT: no ActionResult, or
// what it names as a folder is none. RESOURCE_EXHAUSTED: a limit. Else what `read` answered.
absl::StatusOr<std::vector<Digest>> NamedBlobs(std::string_view bytes, const ReadFolder& read);

}  // namespace galley::store
