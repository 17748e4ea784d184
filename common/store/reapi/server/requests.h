// The requests of REAPI v2 and ByteStream, read by hand from their bytes
// (proto/build/bazel/remote/execution/v2/remote_execution.proto, proto/google/bytestream): nothing
// is copied, nothing is allocated beyond what the bytes themselves pay for, and an ActionResult
// stays the bytes that it came as.
//
// INVALID_ARGUMENT says what is wrong: bytes that are no message, a known field of another wire
// type or twice where it stands once, a digest that is none or is absent, a digest function other
// than SHA-256, a compressor other than zstd, an instance name as CheckInstanceName. Fields that
// are not known are skipped. Views point into the bytes given. Pure.
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
  int32_t page_size = 0;  // 0: as the server likes
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

// Answers the instance.
absl::StatusOr<std::string_view> DecodeGetCapabilities(std::string_view bytes);

struct ReadRequest {
  ResourceName name;
  int64_t offset = 0;
  int64_t limit = 0;  // 0: all
};
absl::StatusOr<ReadRequest> DecodeRead(std::string_view bytes);

struct WriteRequest {
  std::string_view name;  // not read yet: it may be left out of later messages
  int64_t offset = 0;
  bool finish = false;
  std::string_view data;
};
absl::StatusOr<WriteRequest> DecodeWrite(std::string_view bytes);

// Answers the name of a write.
absl::StatusOr<std::string_view> DecodeQueryWriteStatus(std::string_view bytes);

}  // namespace galley::store
