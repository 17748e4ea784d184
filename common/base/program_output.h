// RunToEnd: runs a program, waits for its end, and returns what it printed. What it left running in
// the background is not waited for, whatever that holds open.
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
  std::string input = {};                // its standard input
  bool is_silent = false;                // what it says on standard error goes nowhere,
  bool with_errors = false;              // or else into `errors`; or else where ours goes
  bool takes_privileges = false;         // it may run set-user-id programs (sudo, ssh-keysign)
  absl::Duration wait_max = absl::InfiniteDuration();
  size_t output_bytes_max = 16 << 20;
  Cancellation* stop = nullptr;        // ends it
  std::string working_directory = {};  // empty: ours
  // Takes what it prints as it is printed, in place of ProgramOutput; now and then nothing (""), so
  // that it can say that nobody listens. An error ends the program, and is what RunToEnd returns.
  std::function<absl::Status(bool is_of_errors, std::string_view bytes)> sink = nullptr;
};

struct ProgramOutput {
  ExitStatus exit;
  std::string output, errors;
};

// UNAVAILABLE: it cannot be started, did not end in time, or printed too much; it is killed then.
// With `with_errors` that names the end of what it said. CANCELLED: `stop` became true.
absl::StatusOr<ProgramOutput> RunToEnd(const ProgramToRun& program);

// The end of what a program said, for a message: at most kSaidBytesMax, whole lines where it can
// be.
inline constexpr size_t kSaidBytesMax = 2'000;
std::string EndOf(const std::string& output);
// "exit code 4; it said: the queue is closed"
std::string HowItEnded(const ProgramOutput& ended);

}  // namespace galley
