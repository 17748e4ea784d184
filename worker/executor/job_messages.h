// Messages of executor.proto <-> the executor's structs.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/blob.h"
#include "galley/v1/executor.pb.h"
#include "worker/executor/run_job.h"
#include "worker/executor/snapshot_inputs.h"

namespace galley::worker {

inline constexpr size_t kLogTailBytesMax = 64 << 10;  // of Failed.log_tail

// The Job's targets and limits. INVALID_ARGUMENT: a recipe is malformed.
absl::StatusOr<JobSpec> SpecOf(const v1::Job& job, absl::Time now);
// Package, generated source, cooked inputs and blobs; the rest is the executor's to fill in.
absl::StatusOr<SnapshotInputsOptions> InputsOf(const v1::Job& job);

// The blobs that the message names by place are appended to `blobs`; they go first.
v1::FromExecutor LoadedMessage(const LoadReport& report, std::vector<Blob>& blobs);
v1::FromExecutor SavedMessage(const SaveReport& report, uint64_t memory_peak_bytes,
                              std::vector<Blob>& blobs);
v1::FromExecutor EndMessage(const JobEnd& end);

}  // namespace galley::worker
