// Messages of executor.proto <-> the executor's structs.
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

inline constexpr size_t kLogTailBytesMax = 64 << 10;  // of Failed.log_tail

// The Job's targets and limits. INVALID_ARGUMENT: a recipe is malformed.
absl::StatusOr<JobSpec> SpecOf(const v1::Job& job);
// Package, generated source and cooked inputs; the rest is the executor's to fill in.
absl::StatusOr<SnapshotInputsOptions> InputsOf(const v1::Job& job);
// Where the blobs lie that it may need.
absl::StatusOr<std::map<Digest, store::BlobLocation>> BlobsOf(const v1::Job& job);

struct OutgoingBlob {
  Blob bytes;  // nullptr: `stream` has them, while the job lasts
  PieceStream stream = nullptr;
};

// The blobs that the message names by place are appended to `blobs`; they go first.
v1::FromExecutor LoadedMessage(const LoadReport& report, std::vector<OutgoingBlob>& blobs);
v1::FromExecutor SavedMessage(const SaveReport& report, uint64_t memory_peak_bytes,
                              std::vector<OutgoingBlob>& blobs);
v1::FromExecutor EndMessage(const JobEnd& end);

// Tells what a job moved, each byte in one message of it.
class ByteMeter {
 public:
  // `inputs`: outlive it.
  explicit ByteMeter(const InputProvider& inputs) : inputs_(inputs) {}
  void Count(const SaveReport& report);
  // Tells the bytes that were not told yet.
  void TellIn(v1::FromExecutor& message);

 private:
  const InputProvider& inputs_;
  BytesLoaded told_;
  uint64_t saved_ = 0;  // not told
};

}  // namespace galley::worker
