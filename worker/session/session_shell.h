// Session shell: runs the stream to the director, executor slots, segments and signals; SessionCore
// makes all decisions.
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
  std::string program;  // the path of galley-worker, for the executors
  std::string cookers_json;
  std::string walls_missing;  // v1::Hello
  record::WorkerOffer offer;  // v1::Hello
  // The session reads no file of the director's machine: bytes come from and go to the director.
  // The fields up to scratch_directory are for this case.
  bool is_without_files = false;
  std::string cache_directory;  // shared by the workers of this machine
  std::string shared_path;      // a place where the project may be read; empty: none
  uint64_t cache_bytes_max = 0;
  std::string scratch_directory;  // the folder in which the worker makes its own
  wire::ClientTls tls;
  bool renews_tls = false;  // the director gave the certificate, and will renew it
  // How long the session waits for a director, at the beginning and later.
  absl::Duration first_contact_max = kReconnectMax, reconnect_max = kReconnectMax;
  bool is_by_hand = false;           // SIGINT ends the session, too
  bool is_until_input_ends = false;  // the end of standard input ends the session, too
  std::shared_ptr<LogFeed> log;      // this process's log lines for the director; null: none
};

// Blocks SIGTERM in the calling thread, and so in all threads that it starts, until RunSession
// handles the signal. Must be called before the first thread starts, for example by a call to the
// director: a thread that does not block the signal lets it end the process or, in the first
// process of a container, swallows it.
void HoldTermination();

// Works until the director, a signal or the loss of the director ends the session: kExitDone,
// kExitUnfit or kExitDrained. Blocks SIGTERM in the calling thread: the signal ends the session in
// order. Ignores SIGINT, except in a session that a person started. Called once in a process.
int RunSession(const SessionConfig& config);

}  // namespace galley::worker
