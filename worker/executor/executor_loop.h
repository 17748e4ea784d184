// The executor process: takes jobs from the session over a socket, one at a time, and reports.
// proto/galley/v1/executor.proto.
#pragma once

#include "absl/status/status.h"
#include "worker/executor/run_job.h"

namespace galley::worker {

// Descriptors of the socket and of its notes (opened_notes.h) in an executor process.
inline constexpr int kExecutorSocket = 3;
inline constexpr int kExecutorNotes = 4;

// Returns when the session closes the socket (OK), or sends what is no valid message.
absl::Status RunExecutor(int socket, int notes, const Cookers& cookers);

}  // namespace galley::worker
