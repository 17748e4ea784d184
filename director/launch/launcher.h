// Launcher: starts workers.
//
//   local        starts galley-worker beside this program             process_launcher.h
//   ssh          `galley worker` on other machines, one each          ssh_spawner.h
//   slurm, kubernetes, command
//                submits workers to the queues of a batch system      batch_launcher.h
//
// For each worker a launcher calls on_state(kQueued), on_state(kStarting) and on_exit, in this
// order. Both states come again when a machine lacks the programs or a batch system requeues the
// worker. A launcher for a batch system learns late, or never, that a worker ended: WorkerService
// knows better which workers are attached.
//
// Threads: Start/Adopt/Stop from any thread; the callbacks are called on the launcher's own thread,
// never under a lock; on_exit exactly once for each Start and Adopt. Callbacks may call Start and
// Stop, but not StopAll or the destructor. The destructor ends the workers that still run.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/record/worker_offer.h"
#include "director/launch/worker_record.h"

namespace galley::director {

struct WorkerStart {
  std::string worker_id;         // "local-3"
  std::string director_address;  // "unix:/...", or "host:port"
  // Handed over by an inherited descriptor (GALLEY_TOKEN_FD), never in argv or environment. For
  // workers of other machines the launcher makes the token (LaunchCallbacks::on_token).
  std::string token;
  uint32_t slots = 1;
  record::WorkerOffer offer = {};  // of local workers; others have it in their Ticket
  absl::Duration delay;            // start after this
  std::string log_file;            // the worker's standard error, if it is on this machine
  std::string record_folder = {};  // for the WorkerRecord of a living worker; empty: none
};

struct WorkerExit {
  std::string worker_id;
  std::string reason;  // "signal 9 (Killed)", "exit code 3", or why the start failed
  bool never_started = false;
  int signal = 0;
  // The worker said that it cannot work (kExitUnfit): a worker that is started in the same way
  // would not work either. `reason` holds its last output, if the launcher can read it.
  bool is_unfit = false;
};

inline constexpr int kExitUnfit = 3;  // of galley-worker

enum class LaunchState : uint8_t {
  kQueued,    // waits for a machine
  kStarting,  // has a machine, and is about to attach
};

struct LaunchCallbacks {
  std::function<void(WorkerExit)> on_exit;
  // `where`: the machine, or why a queued worker waits; empty: unknown.
  std::function<void(const std::string& worker_id, LaunchState state, const std::string& where)>
      on_state = nullptr;
  // A queued worker, and usually its whole launch, will not start without the help of a person.
  // `text` names the launch, the reason, and what to do. Called once for each launch and reason.
  std::function<void(const std::string& worker_id, const std::string& text)> on_held = nullptr;
  // The workers will show this token. Called before any of them can attach.
  std::function<void(const std::vector<std::string>& worker_ids, const std::string& token)>
      on_token = nullptr;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Returns at once; a failure comes by on_exit with never_started.
  virtual void Start(const WorkerStart& start) = 0;
  // Takes over a local worker that an earlier director started. The worker is treated like a worker
  // of Start, but on_exit cannot tell how it ended. `folder`: the folder of its record.
  virtual void Adopt(const WorkerRecord& survivor, const std::string& folder) = 0;
  // Ends the worker by SIGTERM, and by SIGKILL after `grace`; on_exit follows. A worker that waits
  // for its delay is not started, and on_exit has never_started. An unknown worker is ignored.
  virtual void Stop(std::string_view worker_id, absl::Duration grace) = 0;
  // Ends every worker that was started before this call, and waits until on_exit has returned for
  // each.
  virtual void StopAll(absl::Duration grace) = 0;
};

}  // namespace galley::director
