// ProcessLauncher: the launcher whose workers are children of this process, or end with a child.
//
// When this process is killed, a worker of this machine runs on for a while, and its WorkerRecord
// tells the next director of it. A worker of another machine ends, because its connection ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/child_process.h"
#include "common/base/file.h"
#include "director/launch/launcher.h"

namespace galley::director {

// WorkerSpawner: starts the child of a worker.
// Threads: the launcher's.
class WorkerSpawner {
 public:
  virtual ~WorkerSpawner() = default;
  // Returns when the next worker may be started: `now`, or a later time, if the worker has to wait
  // for other workers or for a machine. Then NextStart is called again, at the latest when a child
  // has ended.
  virtual absl::Time NextStart(absl::Time now) { return now; }
  // REQUIRES: NextStart returned now.
  virtual absl::StatusOr<ChildProcess> Start(const WorkerStart& start,
                                             const LaunchCallbacks& callbacks) = 0;
  // Called when the child of a worker has ended by itself. Returns the worker's next child, if the
  // ended child was only a step of the start. nullopt: the worker has ended.
  virtual std::optional<ChildProcess> GoOn(const WorkerStart&, const ExitStatus&,
                                           const LaunchCallbacks&) {
    return std::nullopt;
  }
  // Returns, for people, why the worker ended. Called once for each worker whose first child was
  // started, when its last child has ended.
  virtual std::string ReasonOf(const WorkerStart&, const ExitStatus& status) {
    return status.ToString();
  }
};

std::unique_ptr<Launcher> CreateProcessLauncher(std::unique_ptr<WorkerSpawner> spawner,
                                                LaunchCallbacks callbacks);

// Makes a launcher for workers of this machine. `program`: path of galley-worker.
std::unique_ptr<Launcher> CreateLocalLauncher(std::string program,
                                              std::function<void(WorkerExit)> on_exit);

// Opens the file for a worker's output and errors, and makes its folder; invalid: no path is given.
absl::StatusOr<FileDescriptor> OpenWorkerLog(const std::string& path);
// Returns the bytes in the log; 0: there is no log.
uint64_t LogSize(const std::string& path);
// Returns the last lines of the log, of the bytes after `from`.
std::string SaidSince(const std::string& path, uint64_t from);

}  // namespace galley::director
