// The session's shell: the stream to the director, executor slots, segments, signals; all decisions
// are SessionCore's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "common/wire/client_tls.h"
#include "worker/session/log_feed.h"
#include "worker/session/session_core.h"

namespace galley::worker {

struct SessionConfig {
  std::string director;  // "unix:/path" or "host:port"
  std::string worker_id;
  std::string token;
  uint32_t slots = 1;
  std::string program;  // path of galley-worker, for the executors
  std::string cookers_json;
  std::string walls_missing;  // v1::Hello
  record::WorkerOffer offer;  // v1::Hello
  // Nothing of the director's machine is read: bytes come from and go to the director. With these:
  bool is_without_files = false;
  std::string cache_directory;  // shared by the workers of this machine
  std::string shared_path;      // where the project may be read, without files; empty: nowhere
  uint64_t cache_bytes_max = 0;
  std::string scratch_directory;  // where the worker makes a folder of its own
  wire::ClientTls tls;
  bool renews_tls = false;  // the director gave the certificate, and gives the next one
  // So long it waits for a director, at the beginning and later.
  absl::Duration first_contact_max = kReconnectMax, reconnect_max = kReconnectMax;
  bool is_by_hand = false;           // SIGINT ends it, too
  bool is_until_input_ends = false;  // and so does the end of its standard input
  std::shared_ptr<LogFeed> log;      // what this process logs, for the director; null: nothing
};

// Blocks SIGTERM in the calling thread, and so in all that it starts, until RunSession takes it. To
// be called before the first thread, as of a call to the director, is there: one that does not
// block the signal has it end the process or, where the process is the first of a container, is
// given it in vain.
void HoldTermination();

// Works until the director, a signal or a lost director ends it: kExitDone, kExitUnfit or
// kExitDrained. Blocks SIGTERM in the calling thread (it ends the session in order) and ignores
// SIGINT, but of one by hand. Once in a process.
int RunSession(const SessionConfig& config);

}  // namespace galley::worker
