// BatchSystem: makes the commands of a batch system and parses their output; the launcher runs the
// commands (batch_launcher.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/child_process.h"

namespace galley::director {

// Launch: workers that are submitted together.
struct Launch {
  std::string name;         // "galley-tower-1a2b3c4d": unique among launches; [a-z0-9-]
  std::string id;           // the system's name for the launch; empty: not known yet
  uint32_t count = 1;       // workers, by index
  std::string ticket;       // one line (ticket.h)
  std::string ticket_file;  // holds the ticket, with a line's end; mode 0600
};

// TaskView: the state of one worker, as the system reports it.
struct TaskView {
  enum class State : uint8_t { kQueued, kRunning, kGone };
  std::string launch;  // name of its launch
  uint32_t index = 0;
  State state = State::kQueued;
  std::string where;   // the machine; empty: unknown
  std::string reason;  // why the worker waits, or is gone; may be empty
  // A sentence for people: how to make a queued worker start that will not start by itself. Empty:
  // the worker needs no help, as far as the system tells.
  std::string advice = {};
  bool is_unfit = false;  // as in WorkerExit
};

class BatchSystem {
 public:
  struct Command {
    std::vector<std::string> argv;  // empty: nothing to run
    std::string input;
  };
  virtual ~BatchSystem() = default;
  virtual std::string kind() const = 0;  // "slurm"
  // The most workers of one launch.
  virtual uint32_t CountMax() const = 0;

  // Makes the files that Submit names, if there are any. May block.
  virtual absl::Status Prepare() { return absl::OkStatus(); }
  virtual Command Submit(const Launch& launch) const = 0;
  // Reads the id from the output of Submit. INVALID_ARGUMENT: the output has no id.
  virtual absl::StatusOr<std::string> ReadId(const Launch& launch,
                                             std::string_view output) const = 0;
  // True: one command asks about all launches; false: about the first launch.
  virtual bool LooksAtAll() const = 0;
  virtual Command Look(const std::vector<Launch>& launches) const = 0;
  // Returns the workers that the system still knows. `output`: the standard output of the command;
  // if the command failed, its standard error follows.
  virtual absl::StatusOr<std::vector<TaskView>> ReadLook(const std::vector<Launch>& launches,
                                                         const ExitStatus& exit,
                                                         const std::string& output) const = 0;
  // Ends a worker, or the whole launch, even if its `id` is unknown.
  virtual Command End(const Launch& launch, std::optional<uint32_t> index) const = 0;
  // Cleans up after the last worker of a launch is gone.
  virtual Command Clean(const Launch&) const { return {}; }
};

}  // namespace galley::director
