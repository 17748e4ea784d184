// Launcher: where workers come from.
//
//   local        starts galley-worker beside this program             process_launcher.h
//   ssh          `galley worker` on other machines, one each          ssh_spawner.h
//   slurm, kubernetes, command
//                through what has the machines: it has queues, and a
//                worker comes when its turn comes                     batch_launcher.h
//
// Of each worker that was asked for it is told, in this order, at most once each but kQueued:
// on_state(kQueued), on_state(kStarting), on_exit. (One whose machine turns out to lack the
// programs is queued once more while they come.) A launcher of a batch system learns of an end
// late, and of some never: that a worker attached is known better by whoever it attached to.
//
// Threads: Start/Adopt/Stop from any thread; the callbacks are called on the launcher's own thread,
// never under a lock; on_exit exactly once for each Start and Adopt. From within them Start and
// Stop may be called, StopAll and the destructor may not. The destructor ends what still runs.
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
  // Handed over an inherited descriptor (GALLEY_TOKEN_FD), never argv or environment. Of workers of
  // other machines it is the launcher that makes it (LaunchCallbacks::on_token).
  std::string token;
  uint32_t slots = 1;
  record::WorkerOffer offer = {};  // of local ones; others have it of their Ticket
  absl::Duration delay;            // start after this
  std::string log_file;            // the worker's own standard error, if it is on this machine
  std::string record_folder = {};  // for its WorkerRecord while it lives; empty: none
};

struct WorkerExit {
  std::string worker_id;
  std::string reason;  // "signal 9 (Killed)", "exit code 3", or why it could not be started
  bool never_started = false;
  int signal = 0;
  // It said that it is fit for nothing (exit code 3 of galley-worker): another one that is started
  // like it would fare the same. `reason` has its last words, where the launcher gets to them.
  bool is_unfit = false;
};

inline constexpr int kExitUnfit = 3;  // of galley-worker

enum class LaunchState : uint8_t {
  kQueued,    // it waits for a machine
  kStarting,  // it has one, and is about to attach
};

struct LaunchCallbacks {
  std::function<void(WorkerExit)> on_exit;
  // `where`: the machine, or of one that is queued why it waits; as far as that is known.
  std::function<void(const std::string& worker_id, LaunchState state, const std::string& where)>
      on_state = nullptr;
  // The worker, and as a rule others of its launch, waits for something that will not come by
  // itself: `text` says of which launch, for what, and what a person can do. Once for each.
  std::function<void(const std::string& worker_id, const std::string& text)> on_held = nullptr;
  // These workers will show this token. Comes before any of them can attach.
  std::function<void(const std::vector<std::string>& worker_ids, const std::string& token)>
      on_token = nullptr;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Returns at once; a failure comes through on_exit with never_started.
  virtual void Start(const WorkerStart& start) = 0;
  // Takes a worker over that an earlier director started. As if it had been started here, but that
  // nobody can tell how it ended. `folder`: where its record lies. (Of local ones only.)
  virtual void Adopt(const WorkerRecord& survivor, const std::string& folder) = 0;
  // Asks it to end (SIGTERM), then SIGKILL after `grace`. on_exit still comes. One that waits for
  // its delay is not started (on_exit says so, with never_started); an unknown one is ignored.
  virtual void Stop(std::string_view worker_id, absl::Duration grace) = 0;
  // Ends all that were started before this call and waits until on_exit has returned for each.
  virtual void StopAll(absl::Duration grace) = 0;
};

}  // namespace galley::director
