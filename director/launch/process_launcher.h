// ProcessLauncher: the launcher whose workers are children of this process, or depend on a child.
//
// A worker of this machine outlives us for a while when we are killed, and leaves a WorkerRecord to
// the next director. A worker of another machine does not outlive us, because its connection ends
// with us.
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
  // Says when a worker may be started: now; or, if the worker has to wait for other workers or for
  // a machine, at a later time. In that case NextStart is called again, at the latest when a child
  // has ended.
  virtual absl::Time NextStart(absl::Time now) { return now; }
  // REQUIRES: NextStart returned now.
  virtual absl::StatusOr<ChildProcess> Start(const WorkerStart& start,
                                             const LaunchCallbacks& callbacks) = 0;
  // Called when the child of a worker ended and nobody asked it to. Returns the next child, if the
  // ended child only did a first step. nullopt: the worker has ended.
  virtual std::optional<ChildProcess> GoOn(const WorkerStart&, const ExitStatus&,
                                           const LaunchCallbacks&) {
    return std::nullopt;
  }
  // Says for people why the worker ended. Called once for each worker whose first child was
  // started.
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
// LogSize: bytes in the log so far; 0: no log. SaidSince: the end of the bytes after `from`.
uint64_t LogSize(const std::string& path);
std::string SaidSince(const std::string& path, uint64_t from);

}  // namespace galley::director
