// The executor process: takes jobs from the session over a socket, one at a time, and reports their
// results (proto/galley/v1/executor.proto).
#pragma once

#include "absl/status/status.h"
#include "worker/executor/run_job.h"

namespace galley::worker {

// The descriptors of the socket and of the notes (opened_notes.h) in an executor process.
inline constexpr int kExecutorSocket = 3;
inline constexpr int kExecutorNotes = 4;

// Runs until the session closes the socket (OK), or sends an invalid message.
absl::Status RunExecutor(int socket, int notes, const Cookers& cookers);

}  // namespace galley::worker
