// ManySessions: many worker sessions in one process. Each has a stream of its own to a real
// director, and is a real session (SessionCore, DirectorStream, UploadGate) whose jobs sleep and
// are then done in this process (job_runner.h): no executor is started. Few threads have the jobs
// and the timers of all.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "common/wire/client_tls.h"

namespace galley::testing {

struct ManySessionsOptions {
  std::string director;  // "host:port"
  std::string token;
  wire::ClientTls tls;
  uint32_t sessions = 1;
  std::string prefix;     // the workers are called <prefix>-1, <prefix>-2, ...
  uint32_t slots = 1;     // of each
  absl::Duration sleep;   // of each job
  std::string directory;  // where it may write
};

// Until SIGTERM, or until the director has ended each session. Says on standard output "attached
// SECONDS" when all were welcomed, and at the end one line of JSON: a list with, for each session,
// when it was welcomed first (attached_s) and how often (welcomes), the jobs that it did, the
// longest time between two messages of the director on one stream (gap_s), and the jobs that it
// still held (in_hand). Blocks SIGTERM in the calling thread. Returns how many sessions a director
// refused.
uint32_t RunManySessions(const ManySessionsOptions& options);

}  // namespace galley::testing
