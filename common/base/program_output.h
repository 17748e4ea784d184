// RunToEnd: runs a program, waits for its end, and returns its output. Background processes that it
// started are not waited for, even if they hold its output open.
//
// Threads: any; the program dies with the thread that runs it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/child_process.h"

namespace galley {

struct ProgramToRun {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // NAME=value, on top of ours
  bool inherit_environment = true;       // else nothing but `environment`
  std::string input = {};                // standard input
  bool is_silent = false;                // standard error is dropped
  bool with_errors = false;              // unless silent, standard error goes to `errors`, not ours
  bool takes_privileges = false;         // may run set-user-id programs (sudo, ssh-keysign)
  absl::Duration wait_max = absl::InfiniteDuration();
  size_t output_bytes_max = 16 << 20;
  Cancellation* stop = nullptr;        // Cancel ends the program
  std::string working_directory = {};  // empty: ours
  // Takes output as it is printed, in place of ProgramOutput. The sink is also called with "" now
  // and then, so that it can return an error when nobody listens. An error ends the program, and
  // RunToEnd returns the error.
  std::function<absl::Status(bool is_of_errors, std::string_view bytes)> sink = nullptr;
};

struct ProgramOutput {
  ExitStatus exit;
  std::string output, errors;
};

// UNAVAILABLE: the program cannot be started, or was killed since it did not end in time or printed
// too much; with `with_errors` the text has the end of its output. CANCELLED: `stop` was cancelled.
absl::StatusOr<ProgramOutput> RunToEnd(const ProgramToRun& program);

// The end of a program's output, for a message: at most kSaidBytesMax, whole lines if possible.
inline constexpr size_t kSaidBytesMax = 2'000;
std::string EndOf(const std::string& output);
// "exit code 4; it said: the queue is closed"
std::string HowItEnded(const ProgramOutput& ended);

}  // namespace galley
