#include "common/base/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "common/base/clock.h"
#include "common/base/errors.h"
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

std::string Said(const ProgramOutput& ended) {
  const std::string& said = ended.errors.empty() ? ended.output : ended.errors;
  return said.empty() ? "; it said nothing" : fmt::format("; it said: {}", EndOf(said));
}

absl::Status TooLate(const ProgramToRun& program, const ProgramOutput& ended) {
  return UnavailableError("{} {} did not end within {} ms{}", program.argv.front(),
                          program.argv.back(), absl::ToInt64Milliseconds(program.wait_max),
                          program.with_errors ? Said(ended) : "");
}

absl::Status TooMuch(const ProgramToRun& program, const ProgramOutput& ended) {
  return UnavailableError("{} {} prints more than {} bytes{}", program.argv.front(),
                          program.argv.back(), program.output_bytes_max,
                          program.with_errors ? Said(ended) : "");
}

// Invalid: the program has no input.
absl::StatusOr<FileDescriptor> InputOf(const ProgramToRun& program) {
  if (program.input.empty()) return FileDescriptor();
  FileDescriptor input(::memfd_create("input", MFD_CLOEXEC));
  if (!input.valid()) return ErrnoStatus(errno, "make the input of", program.argv.front());
  RETURN_IF_ERROR(WriteAll(input.get(), program.input, program.argv.front()));
  if (::lseek(input.get(), 0, SEEK_SET) != 0)
    return ErrnoStatus(errno, "rewind the input of", program.argv.front());
  return input;
}

absl::StatusOr<ChildProcess> Start(const ProgramToRun& program, int output, int own_errors) {
  ASSIGN_OR_RETURN(const FileDescriptor input, InputOf(program));
  const FileDescriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const int errors = program.is_silent ? nowhere.get() : program.with_errors ? own_errors : 2;
  ChildOptions options{.argv = program.argv,
                       .environment = program.environment,
                       .inherit_environment = program.inherit_environment,
                       .working_directory = program.working_directory,
                       .inherit = {{output, 1}, {errors, 2}},
                       .no_new_privileges = !program.takes_privileges};
  if (input.valid()) options.inherit.emplace_back(input.get(), 0);
  return ChildProcess::Start(options);
}

}  // namespace

std::string EndOf(const std::string& output) {
  std::string_view end = output;
  while (!end.empty() && (end.back() == '\n' || end.back() == '\r')) end.remove_suffix(1);
  if (end.size() <= kSaidBytesMax) return std::string(end);
  end.remove_prefix(end.size() - kSaidBytesMax);
  if (const size_t line = end.find('\n'); line != std::string_view::npos)
    end.remove_prefix(line + 1);
  return fmt::format("... {}", end);
}

std::string HowItEnded(const ProgramOutput& ended) { return ended.exit.ToString() + Said(ended); }

absl::StatusOr<ProgramOutput> RunToEnd(const ProgramToRun& program) {
  ASSIGN_OR_RETURN(Pipe pipe, NewPipe(program.argv.front()));
  ASSIGN_OR_RETURN(Pipe errors, NewPipe(program.argv.front()));
  auto started = Start(program, pipe.write.get(), errors.write.get());
  if (!started.ok()) return absl::UnavailableError(MessageOf(started.status()));
  ChildProcess child = *std::move(started);  // one that did not end is killed with it
  pipe.write.Reset();
  errors.write.Reset();
  ProgramOutput ended;
  std::string buffer(64 << 10, '\0');
  SystemClock clock;
  const absl::Time deadline = clock.Monotonic() + program.wait_max;
  std::optional<ExitStatus> exit;
  std::array<pollfd, 2> events{{{pipe.read.get(), POLLIN, 0}, {errors.read.get(), POLLIN, 0}}};
  const std::array<std::string*, 2> texts{&ended.output, &ended.errors};
  // A pipe that is at its end has a negative descriptor, which poll passes over.
  while (events[0].fd >= 0 || events[1].fd >= 0) {
    if (program.stop != nullptr && program.stop->is_cancelled())
      return CancelledError("{} was stopped", program.argv.front());
    const absl::Duration left = deadline - clock.Monotonic();
    if (left <= absl::ZeroDuration()) return TooLate(program, ended);
    const int64_t left_ms =  // rounded up
        absl::ToInt64Milliseconds(std::min(left, absl::Milliseconds(kStopPollMs))) + 1;
    const int ready = ::poll(events.data(), events.size(), static_cast<int>(left_ms));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      if (program.sink != nullptr) RETURN_IF_ERROR(program.sink(false, ""));
      if (exit.has_value()) break;  // all that it wrote itself is read
      exit = child.Poll();
      continue;
    }
    for (size_t i = 0; i < events.size(); ++i) {
      if (events[i].fd < 0 || events[i].revents == 0) continue;
      const ssize_t count = ::read(events[i].fd, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        events[i].fd = -1;
        continue;
      }
      if (program.sink != nullptr) {
        RETURN_IF_ERROR(program.sink(i == 1, {buffer.data(), static_cast<size_t>(count)}));
        continue;
      }
      texts[i]->append(buffer, 0, static_cast<size_t>(count));
      if (texts[i]->size() > program.output_bytes_max) return TooMuch(program, ended);
    }
  }
  if (!exit.has_value()) exit = child.WaitFor(deadline - clock.Monotonic());
  if (!exit.has_value()) return TooLate(program, ended);
  ended.exit = *exit;
  return ended;
}

}  // namespace galley
