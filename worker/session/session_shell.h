// The session's shell: the stream to the director, executor slots, segments, signals; all decisions
// are SessionCore's.
#pragma once

#include <cstdint>
#include <string>

namespace galley::worker {

struct SessionConfig {
  std::string director;  // "unix:/path" or "host:port"
  std::string worker_id;
  std::string token;
  uint32_t slots = 1;
  std::string program;  // path of galley-worker, for the executors
  std::string cookers_json;
};

// Works until the director, a signal or a lost director ends it. 0: in order; 3: refused, or
// without a director for too long. Blocks SIGTERM in the calling thread (it ends the session in
// order) and ignores SIGINT. Once in a process.
int RunSession(const SessionConfig& config);

}  // namespace galley::worker
