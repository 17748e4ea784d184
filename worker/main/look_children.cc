// LookInChildren of describe_look.h.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "worker/main/describe_look.h"

namespace galley::worker {
namespace {

using LookAtFile = std::function<std::string(const std::string&)>;

std::string FailedLine(const std::string& file, const std::string& why) {
  const nlohmann::ordered_json json = {
      {"file", file}, {"cooker", ""}, {"takes", false}, {"failed", why}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Never returns.
[[noreturn]] void LookInThisChild(const std::vector<std::string>& files, size_t begin,
                                  const LookAtFile& look, const LookOptions& options, int out) {
  if (options.memory_bytes_max > 0) {
    const rlimit limit{options.memory_bytes_max, options.memory_bytes_max};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  for (size_t i = begin; i < files.size(); ++i) {
    if (!WriteAll(out, look(files[i]) + "\n", "the looks").ok()) ::_exit(1);
  }
  ::_exit(0);
}

// A child process, which looks at the files from `next` on.
class Child {
 public:
  static absl::StatusOr<Child> Start(const std::vector<std::string>& files, size_t next,
                                     const LookAtFile& look, const LookOptions& options) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "making a pipe for", "the looks");
    FileDescriptor in(ends[0]);
    FileDescriptor out(ends[1]);
    std::fflush(stdout);
    const pid_t pid = ::fork();
    if (pid < 0) return ErrnoStatus(errno, "starting a child for", "the looks");
    if (pid == 0) LookInThisChild(files, next, look, options, out.get());
    return Child(pid, std::move(in));
  }

  // The next line; nullopt: the child ended, or took too long, and End() tells which.
  std::optional<std::string> ReadLine(absl::Duration time_max) {
    const absl::Time deadline = absl::Now() + time_max;
    while (true) {
      if (const size_t end = text_.find('\n'); end != std::string::npos) {
        std::string line = text_.substr(0, end);
        text_.erase(0, end + 1);
        return line;
      }
      const int64_t left = absl::ToInt64Milliseconds(deadline - absl::Now());
      pollfd waits{in_.get(), POLLIN, 0};
      const int ready = ::poll(&waits, 1, static_cast<int>(std::max<int64_t>(left, 0)));
      if (ready < 0 && errno == EINTR) continue;
      is_late_ = ready == 0;
      if (ready <= 0) return std::nullopt;
      char piece[65'536];
      const ssize_t count = ::read(in_.get(), piece, sizeof(piece));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::nullopt;
      text_.append(piece, static_cast<size_t>(count));
    }
  }

  // Waits for the child's end, and describes it.
  std::string End(absl::Duration time_max) {
    if (is_late_) ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (is_late_)
      return fmt::format("the look took longer than {}", absl::FormatDuration(time_max));
    if (WIFSIGNALED(status))
      return fmt::format("the look crashed: signal {} ({})", WTERMSIG(status),
                         ::strsignal(WTERMSIG(status)));
    return fmt::format("the look ended with exit code {}", WEXITSTATUS(status));
  }

 private:
  Child(pid_t pid, FileDescriptor in) : pid_(pid), in_(std::move(in)) {}

  pid_t pid_;
  FileDescriptor in_;
  std::string text_;
  bool is_late_ = false;
};

}  // namespace

absl::Status LookInChildren(const std::vector<std::string>& files, const LookAtFile& look,
                            const LookOptions& options,
                            const std::function<absl::Status(std::string line)>& print) {
  absl::Status printed;
  for (size_t next = 0; next < files.size() && printed.ok();) {
    ASSIGN_OR_RETURN(Child child, Child::Start(files, next, look, options));
    while (next < files.size() && printed.ok()) {
      std::optional<std::string> line = child.ReadLine(options.time_max);
      if (!line) break;
      printed = print(*std::move(line));
      ++next;
    }
    const std::string why = child.End(options.time_max);
    if (next < files.size() && printed.ok()) printed = print(FailedLine(files[next++], why));
  }
  return printed;
}

}  // namespace galley::worker
