#include "worker/session/received_blobs.h"

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/status_macros.h"

namespace galley::worker {

absl::Status ReceivedBlobs::Take(const Frame& frame) {
  if (frame.kind == FrameKind::kBlob && !large_.has_value()) {
    ASSIGN_OR_RETURN(wire::BlobAt blob, sink_->Append(frame.bytes));
    blobs_.push_back(std::move(blob));
    return absl::OkStatus();
  }
  if (!large_.has_value()) {
    ASSIGN_OR_RETURN(store::HashedFile file, sink_->CreateFile());
    large_.emplace(std::move(file));
  }
  RETURN_IF_ERROR(large_->Append(frame.bytes));
  if (frame.kind == FrameKind::kPiece) return absl::OkStatus();
  const Digest digest = large_->Finish();
  RETURN_IF_ERROR(large_->KeepAs(digest));
  large_.reset();
  blobs_.push_back({.digest = digest, .location = {}});
  return absl::OkStatus();
}

}  // namespace galley::worker
