// ByteStreamRead: handles ByteStream.Read over any BlobStore: sends a blob from an offset on, in
// pieces, plain or as one zstd frame. The last piece, or the end of the frame, is sent only after
// the whole blob was verified: a client that gets everything has the right blob.
//
// Memory: two pieces.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/zstd_stream.h"
#include "common/store/reapi/server/reapi_core.h"
#include "common/store/reapi/server/requests.h"

namespace galley::store {

inline constexpr size_t kReadPieceBytes = 256 << 10;

class ByteStreamRead final : public CallHandler {
 public:
  // `store` must outlive the handler.
  ByteStreamRead(BlobStore& store, const ReapiOptions& options, const Caller& caller)
      : store_(store), options_(options), caller_(caller) {}

  // Every step returns one ReadResponse. OUT_OF_RANGE: the offset or the limit is below 0, or the
  // offset is beyond the end. INVALID_ARGUMENT: a limit on a compressed blob. NOT_FOUND: the blob
  // is absent, or its bytes are wrong.
  Step OnMessage(std::string_view request) override;
  Step OnContinue() override;

 private:
  absl::Status Begin(std::string_view request);
  absl::StatusOr<Step> Piece();
  absl::StatusOr<Step> PackedPiece();

  BlobStore& store_;
  const ReapiOptions options_;
  const Caller caller_;
  std::unique_ptr<BlobReader> reader_;
  std::optional<ZstdCompressor> compressor_;
  uint64_t left_ = 0;  // requested bytes that are not read yet
  std::string held_;   // read, not sent yet
};

}  // namespace galley::store
