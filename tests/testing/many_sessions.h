// ManySessions: many worker sessions in a process. Each session has a stream of its own to a real
// director, and is real (SessionCore, DirectorStream, UploadGate), but its jobs sleep and are then
// done in this process (job_runner.h): no executor is started. A few threads run the jobs and the
// timers of all sessions.
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
  uint32_t slots = 1;     // of each session
  absl::Duration sleep;   // of each job
  std::string directory;  // a folder for its files
};

// Runs until SIGTERM, or until the director has ended each session. Prints "attached SECONDS" when
// all sessions were welcomed. At the end prints a line of JSON, a list with an entry for each
// session: when it was first welcomed (attached_s) and how often (welcomes), the jobs that it did,
// the longest time between two messages of the director on the same stream (gap_s), and the jobs
// that it still held (in_hand). Blocks SIGTERM in the calling thread. Returns the number of
// sessions that a director refused.
uint32_t RunManySessions(const ManySessionsOptions& options);

}  // namespace galley::testing
