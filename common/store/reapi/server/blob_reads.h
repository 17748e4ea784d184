// ByteStreamRead: ByteStream.Read over any BlobStore: a blob from an offset on, in pieces, as it is
// or as one zstd frame. No byte is believed before the whole was found right: the last piece, or
// the end of the frame, is withheld until then, so that who got all of it got the blob.
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
  // `store` outlives it.
  ByteStreamRead(BlobStore& store, const ReapiOptions& options, const Caller& caller)
      : store_(store), options_(options), caller_(caller) {}

  // Every step gives one ReadResponse. OUT_OF_RANGE: an offset or a limit below 0, an offset behind
  // the end. INVALID_ARGUMENT: a limit on a compressed blob. NOT_FOUND: absent, also when its bytes
  // turned out wrong.
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
  uint64_t left_ = 0;  // bytes that were asked for and are not read yet
  std::string held_;   // read, not told yet
};

}  // namespace galley::store
