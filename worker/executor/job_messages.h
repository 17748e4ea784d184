// Job messages: messages of executor.proto <-> the executor's structs.
#pragma once

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/blob.h"
#include "common/store/interface/store.h"
#include "galley/v1/executor.pb.h"
#include "worker/executor/run_job.h"
#include "worker/executor/snapshot_inputs.h"

namespace galley::worker {

inline constexpr size_t kLogTailBytesMax = 64 << 10;  // for Failed.log_tail

// The Job's targets and limits. INVALID_ARGUMENT: a recipe is malformed.
absl::StatusOr<JobSpec> SpecOf(const v1::Job& job);
// Package, generated source and cooked inputs; the executor fills in the rest.
absl::StatusOr<SnapshotInputsOptions> InputsOf(const v1::Job& job);
// The places of the blobs that the job may need.
absl::StatusOr<std::map<Digest, store::BlobLocation>> BlobsOf(const v1::Job& job);

struct OutgoingBlob {
  Blob bytes;  // nullptr: `stream` has them, while the job lasts
  PieceStream stream = nullptr;
};

// Appends the blobs that the message names by place to `blobs`; blobs are sent before the message.
v1::FromExecutor LoadedMessage(const LoadReport& report, std::vector<OutgoingBlob>& blobs);
v1::FromExecutor SavedMessage(const SaveReport& report, uint64_t memory_peak_bytes,
                              std::vector<OutgoingBlob>& blobs);
v1::FromExecutor EndMessage(const JobEnd& end);

// Counts the bytes that a job moved, and reports each byte once.
class ByteMeter {
 public:
  // `inputs` outlives the ByteMeter.
  explicit ByteMeter(const InputProvider& inputs) : inputs_(inputs) {}
  void Count(const SaveReport& report);
  // Adds the bytes since the last call to the message.
  void TellIn(v1::FromExecutor& message);

 private:
  const InputProvider& inputs_;
  BytesLoaded told_;
  uint64_t saved_ = 0;  // not reported yet
};

}  // namespace galley::worker
