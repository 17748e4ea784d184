// The launcher whose workers are children of this process, or hang on one that is.
//
// A worker outlives us when we are killed, for a while, and leaves a WorkerRecord to whom comes
// next. (One of another machine does not: its connection ends with us.)
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

// WorkerSpawner: how the child of a worker is started.
// Threads: the launcher's.
class WorkerSpawner {
 public:
  virtual ~WorkerSpawner() = default;
  // When one may be started: now; or, if it has to wait for others or for a machine, at that time
  // (in which case this is asked again, at the latest, when a child has ended).
  virtual absl::Time NextStart(absl::Time now) { return now; }
  // REQUIRES: NextStart said now.
  virtual absl::StatusOr<ChildProcess> Start(const WorkerStart& start,
                                             const LaunchCallbacks& callbacks) = 0;
  // The child of a worker ended, and nobody asked it to: another one takes its place, if it only
  // did what was to be done first. nullopt: the worker has ended.
  virtual std::optional<ChildProcess> GoOn(const WorkerStart&, const ExitStatus&,
                                           const LaunchCallbacks&) {
    return std::nullopt;
  }
  // It ended: why, for people. Once for each worker whose first child was started.
  virtual std::string ReasonOf(const WorkerStart&, const ExitStatus& status) {
    return status.ToString();
  }
};

std::unique_ptr<Launcher> CreateProcessLauncher(std::unique_ptr<WorkerSpawner> spawner,
                                                LaunchCallbacks callbacks);

// Workers of this machine. `program`: path of galley-worker.
std::unique_ptr<Launcher> CreateLocalLauncher(std::string program,
                                              std::function<void(WorkerExit)> on_exit);

// Where a worker's output and errors go, with its folder; invalid: no path is given.
absl::StatusOr<FileDescriptor> OpenWorkerLog(const std::string& path);
// Its bytes so far; 0: there is none. And the end of what was written to it since it had so many.
uint64_t LogSize(const std::string& path);
std::string SaidSince(const std::string& path, uint64_t from);

}  // namespace galley::director
