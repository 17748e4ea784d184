// Decoders of the requests of REAPI v2 and ByteStream, by hand
// (proto/build/bazel/remote/execution/v2/remote_execution.proto, proto/google/bytestream): they
// copy nothing, allocate no more than the size of the given bytes justifies, and keep an
// ActionResult byte for byte.
//
// INVALID_ARGUMENT, naming the fault: the bytes are no message, a known field has another wire type
// or comes twice though it is not repeated, a digest is malformed or absent, the digest function is
// not SHA-256, the compressor is not zstd, or the instance name is wrong as in CheckInstanceName.
// Unknown fields are skipped. Views point into the given bytes. Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/store/reapi/server/resource_name.h"

namespace galley::store {

struct FindMissingRequest {
  std::string_view instance;
  std::vector<Digest> digests;
};
absl::StatusOr<FindMissingRequest> DecodeFindMissing(std::string_view bytes);

struct BatchUpdateRequest {
  struct Blob {
    Digest digest;
    std::string_view data;
    Compressor compressor = Compressor::kIdentity;
  };
  std::string_view instance;
  std::vector<Blob> blobs;
};
absl::StatusOr<BatchUpdateRequest> DecodeBatchUpdate(std::string_view bytes);

struct BatchReadRequest {
  std::string_view instance;
  std::vector<Digest> digests;
  bool takes_zstd = false;
};
absl::StatusOr<BatchReadRequest> DecodeBatchRead(std::string_view bytes);

struct GetTreeRequest {
  std::string_view instance;
  Digest root;
  int32_t page_size = 0;  // 0: the server's choice
  std::string_view page_token;
};
absl::StatusOr<GetTreeRequest> DecodeGetTree(std::string_view bytes);

struct GetActionResultRequest {
  std::string_view instance;
  Digest action;
  bool inline_stdout = false;
  bool inline_stderr = false;
  std::vector<std::string_view> inline_output_files;
};
absl::StatusOr<GetActionResultRequest> DecodeGetActionResult(std::string_view bytes);

struct UpdateActionResultRequest {
  std::string_view instance;
  Digest action;
  std::string_view result;
};
absl::StatusOr<UpdateActionResultRequest> DecodeUpdateActionResult(std::string_view bytes);

// Returns the instance.
absl::StatusOr<std::string_view> DecodeGetCapabilities(std::string_view bytes);

struct ReadRequest {
  ResourceName name;
  int64_t offset = 0;
  int64_t limit = 0;  // 0: all
};
absl::StatusOr<ReadRequest> DecodeRead(std::string_view bytes);

struct WriteRequest {
  std::string_view name;  // not parsed yet; later messages may leave it out
  int64_t offset = 0;
  bool finish = false;
  std::string_view data;
};
absl::StatusOr<WriteRequest> DecodeWrite(std::string_view bytes);

// Returns the resource name of a write.
absl::StatusOr<std::string_view> DecodeQueryWriteStatus(std::string_view bytes);

}  // namespace galley::store
