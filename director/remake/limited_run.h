// RunLimited: runs a program on this thread, with limits of time, memory and file size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/child_process.h"

namespace galley::director {

struct LimitedProgram {
  std::vector<std::string> argv;         // argv[0] is a path
  std::vector<std::string> environment;  // NAME=value, on top of ours
  std::string output_file;               // takes standard output and standard error
  absl::Duration wait_max = absl::Minutes(10);
  uint64_t memory_bytes_max = 4ull << 30;  // resident, of the program and its descendants together
  uint64_t file_bytes_max = 16ull << 30;   // of each file that it writes
};

struct LimitedEnd {
  ExitStatus exit;
  std::string said;  // the end of what the program printed
};

// Waits for the end of the program; one that outgrows a limit is killed with all that it started.
// DEADLINE_EXCEEDED: it did not end in time. RESOURCE_EXHAUSTED: it took more memory. CANCELLED:
// `stop` was cancelled. Others: it cannot be started.
absl::StatusOr<LimitedEnd> RunLimited(const LimitedProgram& program, const Cancellation& stop);

}  // namespace galley::director
