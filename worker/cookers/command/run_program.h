// RunProgram: runs an external program to its end and keeps what it prints.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/child_process.h"

namespace galley::worker {

struct ProgramRun {
  ExitStatus status;
  bool timed_out = false;  // Galley killed the program
  std::string output;      // standard output and error; above 1 MiB the middle is left out
};

// Runs the program. `time_left` is asked at the start and again while the program runs, since it
// may become less. Standard output and standard error are one pipe. When the program ends or its
// time is up, its whole process group is killed; in a process that adopts orphans (executor,
// exec-action) the processes that left the group are killed, too. The calls of `options.watch` are
// served; when the watch fails, all processes are killed as well.
absl::StatusOr<ProgramRun> RunProgram(ChildOptions options,
                                      const std::function<absl::Duration()>& time_left);

// The last lines of `output`, at most 2 KiB, control characters escaped.
std::string TailOf(const std::string& output);

}  // namespace galley::worker
