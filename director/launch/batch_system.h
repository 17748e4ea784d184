// BatchSystem: the commands of a system that has machines and queues, and what they print. Text in,
// text out: the commands are run by the launcher (batch_launcher.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/child_process.h"

namespace galley::director {

// Launch: some workers that are asked for together.
struct Launch {
  std::string name;         // "galley-tower-1a2b3c4d": no other launch ever has it; [a-z0-9-]
  std::string id;           // what the system calls it; empty: it was not told yet
  uint32_t count = 1;       // workers, by index
  std::string ticket;       // one line (ticket.h)
  std::string ticket_file;  // that holds it, with a line's end; mode 0600
};

// What a system says of one worker.
struct TaskView {
  enum class State : uint8_t { kQueued, kRunning, kGone };
  std::string launch;  // its name
  uint32_t index = 0;
  State state = State::kQueued;
  std::string where;   // the machine; empty: not known
  std::string reason;  // why it waits, or is gone; may be empty
  // Of one that waits and will not start by itself, as far as the system tells: what a person can
  // do, as a sentence. Empty: its turn comes.
  std::string advice = {};
  bool is_unfit = false;  // WorkerExit
};

class BatchSystem {
 public:
  struct Command {
    std::vector<std::string> argv;  // empty: nothing is to be run
    std::string input;
  };
  virtual ~BatchSystem() = default;
  virtual std::string kind() const = 0;  // "slurm"
  // Workers of one launch at most.
  virtual uint32_t CountMax() const = 0;

  // Makes what Submit names, if there is anything. May block.
  virtual absl::Status Prepare() { return absl::OkStatus(); }
  virtual Command Submit(const Launch& launch) const = 0;
  // From what Submit printed. INVALID_ARGUMENT: it cannot be told.
  virtual absl::StatusOr<std::string> ReadId(const Launch& launch,
                                             std::string_view output) const = 0;
  // One command asks about all of them; false: about the first one.
  virtual bool LooksAtAll() const = 0;
  virtual Command Look(const std::vector<Launch>& launches) const = 0;
  // Those that it does not name are not known to the system any more. `output`: what the command
  // printed; of one that failed, its errors behind that.
  virtual absl::StatusOr<std::vector<TaskView>> ReadLook(const std::vector<Launch>& launches,
                                                         const ExitStatus& exit,
                                                         const std::string& output) const = 0;
  // Ends a worker, or all of the launch: also one whose `id` is not known.
  virtual Command End(const Launch& launch, std::optional<uint32_t> index) const = 0;
  // After the last worker of a launch is gone.
  virtual Command Clean(const Launch&) const { return {}; }
};

}  // namespace galley::director
