// ReceivedBlobs: the blobs that an executor sent for its next report. A large blob comes in pieces,
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
  explicit ReceivedBlobs(BlobSink* sink) : sink_(sink) {}  // the sink outlives this object

  // Takes a blob, or a piece of a large blob. Errors: the sink's. REQUIRES: `frame` is no message.
  absl::Status Take(const Frame& frame);
  // The blobs that came whole, in order; a large blob that is not whole is dropped.
  std::vector<wire::BlobAt> TakeAll() {
    large_.reset();
    return std::exchange(blobs_, {});
  }
  void Clear() { TakeAll(); }

 private:
  BlobSink* const sink_;
  std::vector<wire::BlobAt> blobs_;
  std::optional<store::HashedFile> large_;  // a large blob that is not whole yet
};

}  // namespace galley::worker
