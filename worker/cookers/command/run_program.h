// Runs an external program to its end, and keeps what it says.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/child_process.h"

namespace galley::worker {

struct ProgramRun {
  ExitStatus status;
  bool timed_out = false;  // killed by us
  std::string output;      // standard output and error; the middle is left out above 1 MiB
};

// `time_left`: asked now, and again while the program runs, since it may become less. Standard
// output and error are one pipe. When the program ends or the time is up its whole process
// group is killed, and in a process that adopts orphans (executor, exec-action) whatever left the
// group. The calls of `options.watch` are served; when that fails, all are killed likewise.
absl::StatusOr<ProgramRun> RunProgram(ChildOptions options,
                                      const std::function<absl::Duration()>& time_left);

// The last lines of `output`, at most 2 KiB, control characters escaped.
std::string TailOf(const std::string& output);

}  // namespace galley::worker
