#include "director/remake/limited_run.h"

#include <fcntl.h>

#include <cerrno>
#include <csignal>
#include <optional>

#include "absl/time/clock.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"

namespace galley::director {
namespace {

constexpr absl::Duration kLookInterval = absl::Milliseconds(50);
constexpr uint64_t kSaidFileBytesMax = 16 << 20;

std::string SaidIn(const std::string& file) {
  const absl::StatusOr<std::string> text = ReadFile(file, kSaidFileBytesMax);
  return text.ok() ? EndOf(*text) : "";
}

// OK: the program may go on.
absl::Status CheckLimits(const LimitedProgram& program, pid_t pid, absl::Time until,
                         const Cancellation& stop) {
  if (stop.is_cancelled()) return absl::CancelledError("nobody waits for the outputs");
  if (absl::Now() >= until) {
    return DeadlineExceededError("{} did not end within {} s", program.argv[0],
                                 absl::ToInt64Seconds(program.wait_max));
  }
  if (ResidentBytes(pid) + ResidentBytesBelow(pid) > program.memory_bytes_max) {
    return ResourceExhaustedError("{} takes more than {}", program.argv[0],
                                  HumanBytes(program.memory_bytes_max));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LimitedEnd> RunLimited(const LimitedProgram& program, const Cancellation& stop) {
  const FileDescriptor output(
      ::open(program.output_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!output.valid()) return ErrnoStatus(errno, "create", program.output_file);
  const absl::Time until = absl::Now() + program.wait_max;
  ASSIGN_OR_RETURN(ChildProcess child,
                   ChildProcess::Start({.argv = program.argv,
                                        .environment = program.environment,
                                        .inherit_environment = true,
                                        .inherit = {{output.get(), 1}, {output.get(), 2}},
                                        .file_size_bytes_max = program.file_bytes_max}));
  while (true) {
    if (const std::optional<ExitStatus> exit = child.WaitFor(kLookInterval); exit.has_value())
      return LimitedEnd{.exit = *exit, .said = SaidIn(program.output_file)};
    if (const absl::Status limits = CheckLimits(program, child.pid(), until, stop); !limits.ok()) {
      child.Kill(SIGKILL);
      child.Wait();
      return limits;
    }
  }
}

}  // namespace galley::director
