#include "common/base/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley {
namespace {

// So often it is asked whether somebody wants it to stop.
constexpr int kStopPollMs = 50;

struct Pipe {
  FileDescriptor read, write;
};

absl::StatusOr<Pipe> NewPipe(const std::string& of) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for", of);
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

absl::Status TooLate(const ProgramToRun& program) {
  return absl::UnavailableError(fmt::format("{} {} did not end within {} ms", program.argv.front(),
                                            program.argv.back(),
                                            absl::ToInt64Milliseconds(program.wait_max)));
}

}  // namespace

absl::StatusOr<ProgramOutput> RunToEnd(const ProgramToRun& program) {
  ASSIGN_OR_RETURN(Pipe pipe, NewPipe(program.argv.front()));
  const FileDescriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const int errors = program.is_silent ? nowhere.get() : 2;
  auto started = ChildProcess::Start({.argv = program.argv,
                                      .environment = program.environment,
                                      .inherit_environment = program.inherit_environment,
                                      .inherit = {{pipe.write.get(), 1}, {errors, 2}}});
  if (!started.ok()) return absl::UnavailableError(MessageOf(started.status()));
  ChildProcess child = *std::move(started);  // one that did not end is killed with it
  pipe.write.Reset();
  ProgramOutput ended;
  std::string buffer(64 << 10, '\0');
  SystemClock clock;
  const absl::Time deadline = clock.Monotonic() + program.wait_max;
  while (true) {
    if (program.stop != nullptr && program.stop->is_cancelled())
      return absl::CancelledError(fmt::format("{} was stopped", program.argv.front()));
    const absl::Duration left = deadline - clock.Monotonic();
    if (left <= absl::ZeroDuration()) return TooLate(program);
    const int64_t left_ms =  // rounded up
        absl::ToInt64Milliseconds(std::min(left, absl::Milliseconds(kStopPollMs))) + 1;
    pollfd event{pipe.read.get(), POLLIN, 0};
    const int ready = ::poll(&event, 1, static_cast<int>(left_ms));
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    const ssize_t count = ::read(pipe.read.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    ended.output.append(buffer, 0, static_cast<size_t>(count));
    if (ended.output.size() > program.output_bytes_max) {
      return absl::UnavailableError(fmt::format("{} {} prints more than {} bytes",
                                                program.argv.front(), program.argv.back(),
                                                program.output_bytes_max));
    }
  }
  const auto exit = child.WaitFor(deadline - clock.Monotonic());
  if (!exit.has_value()) return TooLate(program);
  ended.exit = *exit;
  return ended;
}

}  // namespace galley
