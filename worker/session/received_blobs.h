// ReceivedBlobs: the blobs that an executor sent for its next report. A large one comes in pieces,
// and is never whole in memory.
//
// Threads: one; Take may wait for a segment.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/store/local/blob_file.h"
#include "common/wire/convert.h"
#include "worker/executor/frame.h"
#include "worker/session/blob_sink.h"

namespace galley::worker {

class ReceivedBlobs {
 public:
  explicit ReceivedBlobs(BlobSink* sink) : sink_(sink) {}  // which outlives it

  // A blob, or a piece of a large one. REQUIRES: it is no message. Errors: those of the sink.
  absl::Status Take(const Frame& frame);
  // What came whole, in order; what did not is dropped.
  std::vector<wire::BlobAt> TakeAll() {
    large_.reset();
    return std::exchange(blobs_, {});
  }
  void Clear() { TakeAll(); }

 private:
  BlobSink* const sink_;
  std::vector<wire::BlobAt> blobs_;
  std::optional<store::HashedFile> large_;  // of which pieces came
};

}  // namespace galley::worker
