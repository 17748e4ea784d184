// Launcher: where workers come from. Local: starts galley-worker beside this program, notices a
// death, and says so.
//
// A worker is started as `<program> session --director <address> --id <id> --slots <n>` with
// GALLEY_TOKEN_FD=3; of our environment it gets PATH, HOME, LANG and the sanitizers' options only;
// its standard input is empty, its output goes where its errors go, so that the standard output of
// a cook stays its own.
//
// A worker outlives us when we are killed, for a while, and leaves a WorkerRecord to whom comes
// next.
//
// Threads: Start/Adopt/Stop from any thread; `on_exit` is called on the launcher's own thread,
// never under a lock, exactly once for each Start and Adopt. From within `on_exit` Start and Stop
// may be called, StopAll and the destructor may not. The destructor kills what still runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/child_process.h"
#include "director/launch/worker_record.h"

namespace galley::director {

struct WorkerStart {
  std::string worker_id;         // "local-3"
  std::string director_address;  // "unix:/..."
  // Handed over an inherited descriptor (GALLEY_TOKEN_FD), never argv or environment.
  std::string token;
  uint32_t slots = 1;
  absl::Duration delay;            // start after this
  std::string log_file;            // the worker's own standard error
  std::string record_folder = {};  // for its WorkerRecord while it lives; empty: none
};

struct WorkerExit {
  std::string worker_id;
  std::string reason;  // "signal 9 (Killed)", "exit code 3", or why it could not be started
  bool never_started = false;
  int signal = 0;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Returns at once; a failure comes through on_exit with never_started.
  virtual void Start(const WorkerStart& start) = 0;
  // Takes a worker over that an earlier director started. As if it had been started here, but that
  // nobody can tell how it ended. `folder`: where its record lies.
  virtual void Adopt(const WorkerRecord& survivor, const std::string& folder) = 0;
  // Asks it to end (SIGTERM), then SIGKILL after `grace`. on_exit still comes. One that waits for
  // its delay is not started (on_exit says so, with never_started); an unknown one is ignored.
  virtual void Stop(std::string_view worker_id, absl::Duration grace) = 0;
  // Ends all that were started before this call and waits until on_exit has returned for each.
  virtual void StopAll(absl::Duration grace) = 0;
};

// `program`: path of galley-worker.
std::unique_ptr<Launcher> CreateLocalLauncher(std::string program,
                                              std::function<void(WorkerExit)> on_exit);

}  // namespace galley::director
