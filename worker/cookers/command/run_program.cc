#include "worker/cookers/command/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <utility>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"

namespace galley::worker {
namespace {

constexpr size_t kHeadBytesMax = 768 << 10;
constexpr size_t kTailBytesMax = 256 << 10;
constexpr size_t kErrorTailBytesMax = 2048;
// The interval at which we look whether a program has ended whose children keep the pipe open.
constexpr absl::Duration kLookInterval = absl::Milliseconds(20);

class Capture {
 public:
  void Add(std::string_view bytes) {
    const size_t to_head = std::min(bytes.size(), kHeadBytesMax - head_.size());
    head_ += bytes.substr(0, to_head);
    tail_ += bytes.substr(to_head);
    if (tail_.size() > 2 * kTailBytesMax) Shorten();
  }
  std::string Take() {
    if (tail_.size() > kTailBytesMax) Shorten();
    return std::move(head_) + (is_shortened_ ? "\n[...]\n" : "") + tail_;
  }

 private:
  void Shorten() {
    tail_.erase(0, tail_.size() - kTailBytesMax);
    is_shortened_ = true;
  }
  std::string head_;
  std::string tail_;
  bool is_shortened_ = false;
};

// Reads what the pipe holds now. False: the pipe is at its end.
bool Drain(int fd, Capture& capture) {
  char buffer[16384];
  while (true) {
    const ssize_t count = ::read(fd, buffer, sizeof(buffer));
    if (count > 0) {
      capture.Add({buffer, static_cast<size_t>(count)});
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

// True when the program has ended. The program is not reaped, so that its process group keeps its
// number.
bool HasEnded(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
         info.si_pid == pid;
}

}  // namespace

absl::StatusOr<ProgramRun> RunProgram(ChildOptions options,
                                      const std::function<absl::Duration()>& time_left) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return ErrnoStatus(errno, "pipe for", options.argv[0]);
  FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  // The program's end blocks, as programs expect.
  if (::fcntl(write_end.get(), F_SETFL, 0) != 0)
    return ErrnoStatus(errno, "pipe for", options.argv[0]);
  options.inherit = {{write_end.get(), 1}, {write_end.get(), 2}};
  ChildWatch* const watch = options.watch;
  SystemClock clock;
  const absl::Time deadline = clock.Monotonic() + time_left();
  ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start(options));
  write_end.Reset();

  ProgramRun run;
  Capture capture;
  bool is_open = true;
  while (!HasEnded(child.pid())) {
    if (watch != nullptr && watch->has_failed()) break;
    const absl::Duration left = std::min(deadline - clock.Monotonic(), time_left());
    if (left <= absl::ZeroDuration()) {
      run.timed_out = true;
      break;
    }
    pollfd entries[2] = {{is_open ? read_end.get() : -1, POLLIN, 0},
                         {watch != nullptr ? watch->descriptor() : -1, POLLIN, 0}};
    const auto wait_ms = static_cast<int>(
        absl::ToInt64Milliseconds(std::min(left, is_open ? kLookInterval : absl::Milliseconds(1))));
    ::poll(entries, 2, std::max(wait_ms, 1));
    if (entries[1].revents != 0) watch->Serve();
    if (is_open && entries[0].revents != 0) is_open = Drain(read_end.get(), capture);
  }
  child.Kill(SIGKILL);
  run.status = child.Wait();
  KillOrphans();  // processes that left the group may still hold the outputs open
  if (is_open) Drain(read_end.get(), capture);
  run.output = capture.Take();
  return run;
}

std::string TailOf(const std::string& output) {
  std::string_view text(output);
  if (text.size() > kErrorTailBytesMax) {
    text = text.substr(text.size() - kErrorTailBytesMax);
    if (const size_t newline = text.find('\n'); newline != std::string_view::npos)
      text = text.substr(newline + 1);
  }
  std::string tail;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    tail += "\n  " + EscapeControl(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return tail;
}

}  // namespace galley::worker
