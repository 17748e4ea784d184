// status, top, cancel, drain: commands that ask a resident director, and never host one.

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "absl/time/clock.h"
#include "common/base/status_macros.h"
#include "director/cli/commands.h"
#include "director/cli/director_of_project.h"
#include "director/cli/interrupt.h"
#include "director/cli/status_text.h"
#include "director/cli/terminal.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using director::DirectorClient;

constexpr absl::Duration kTopInterval = absl::Seconds(1);

// Runs `ask` with the project's director. Without one it is exit 3: nobody can answer.
int WithDirector(const GlobalOptions& options, const std::function<int(DirectorClient&)>& ask) {
  const auto project = OpenProject(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  const auto client = FindDirector(*project);
  if (!client.ok()) return Fail(options, kInfrastructure, MessageOf(client.status()));
  if (*client == nullptr) {
    return Fail(
        options, kInfrastructure,
        fmt::format("no director serves {}; `galley serve --detach` starts one", project->root));
  }
  return ask(**client);
}

int FailOf(const GlobalOptions& options, const absl::Status& why) {
  const bool is_wrong_use = absl::IsNotFound(why) || absl::IsInvalidArgument(why);
  return Fail(options, is_wrong_use ? kUsage : kInfrastructure, MessageOf(why));
}

size_t ColumnsOfStandardOutput() {
  winsize window{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  return is_known ? window.ws_col : SIZE_MAX;
}

// RawKeys: single keys of the terminal, without Enter, while it lives.
class RawKeys {
 public:
  RawKeys() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    is_raw_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  ~RawKeys() {
    if (is_raw_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  RawKeys(const RawKeys&) = delete;
  RawKeys& operator=(const RawKeys&) = delete;

  // '\0': none within the time.
  char Next(absl::Duration patience) const {
    pollfd in{is_raw_ ? STDIN_FILENO : -1, POLLIN, 0};
    char key = 0;
    const int ready = ::poll(&in, 1, static_cast<int>(absl::ToInt64Milliseconds(patience)));
    return ready == 1 && ::read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
  }

 private:
  termios before_{};
  bool is_raw_ = false;
};

enum class Order { kNumber, kLeft, kFailed };

void Sort(v1::StatusAnswer& status, Order order) {
  const auto key = [order](const v1::StatusAnswer::Cook& cook) -> int64_t {
    if (order == Order::kFailed)
      return -static_cast<int64_t>(cook.progress().counters().results_failed());
    if (order == Order::kLeft)
      return cook.progress().has_left_us() ? cook.progress().left_us() : INT64_MAX;
    return static_cast<int64_t>(cook.cook());
  };
  std::stable_sort(status.mutable_cooks()->begin(), status.mutable_cooks()->end(),
                   [&](const auto& one, const auto& other) { return key(one) < key(other); });
  if (order == Order::kNumber) return;
  std::stable_sort(status.mutable_workers()->begin(), status.mutable_workers()->end(),
                   [](const auto& one, const auto& other) { return one.jobs() > other.jobs(); });
}

int TopOnTerminal(const GlobalOptions& options, DirectorClient& client) {
  bool is_interrupted = false;
  const InterruptWatch interrupt([] {});
  const RawKeys keys;
  Order order = Order::kNumber;
  while (!is_interrupted) {
    auto status = client.Status();
    if (!status.ok()) {
      std::fputs("\n", stdout);
      return FailOf(options, status.status());
    }
    Sort(*status, order);
    std::fputs(fmt::format("\x1b[H\x1b[2J{}\n(n)umber (l)eft (f)ailed (q)uit\n",
                           StatusText(*status, absl::Now(), ColumnsOfStandardOutput()))
                   .c_str(),
               stdout);
    std::fflush(stdout);
    const absl::Time next = absl::Now() + kTopInterval;
    while (absl::Now() < next && !is_interrupted) {
      const char key = keys.Next(std::min(absl::Milliseconds(100), next - absl::Now()));
      if (key == 'n') order = Order::kNumber;
      if (key == 'l') order = Order::kLeft;
      if (key == 'f') order = Order::kFailed;
      is_interrupted = key == 'q' || interrupt.interrupted();
      if (key != '\0') break;
    }
  }
  return kDone;
}

int ShowStatus(const GlobalOptions& options, DirectorClient& client) {
  const auto status = client.Status();
  if (!status.ok()) return FailOf(options, status.status());
  if (options.json) {
    PrintJson(StatusJson(*status));
  } else {
    fmt::print("{}", StatusText(*status, absl::Now(), ColumnsOfStandardOutput()));
  }
  return kDone;
}

}  // namespace

int RunStatus(const GlobalOptions& options) {
  return WithDirector(options, [&](DirectorClient& client) { return ShowStatus(options, client); });
}

int RunTop(const GlobalOptions& options) {
  return WithDirector(options, [&](DirectorClient& client) {
    const bool is_live = !options.json && ::isatty(STDOUT_FILENO) == 1 &&
                         TerminalOf(true, std::getenv("TERM"), nullptr).can_redraw;
    return is_live ? TopOnTerminal(options, client) : ShowStatus(options, client);
  });
}

int RunCancel(const GlobalOptions& options, uint64_t cook) {
  return WithDirector(options, [&](DirectorClient& client) -> int {
    if (const absl::Status cancelled = client.Cancel(cook); !cancelled.ok())
      return FailOf(options, cancelled);
    if (options.json) PrintJson({{"cancelled", cook}});
    if (!options.json && !options.quiet)
      std::fputs(fmt::format("cook {} is cancelled\n", cook).c_str(), stderr);
    return kDone;
  });
}

int RunDrain(const GlobalOptions& options, const std::string& worker) {
  return WithDirector(options, [&](DirectorClient& client) -> int {
    v1::DrainAsk ask;
    ask.set_worker(worker);
    const auto drained = client.Drain(ask);
    if (!drained.ok()) return FailOf(options, drained.status());
    if (options.json) PrintJson({{"drained", drained->workers()}});
    if (!options.json && !options.quiet)
      std::fputs(
          fmt::format("{} workers end when they have nothing in hand\n", drained->workers_size())
              .c_str(),
          stderr);
    return kDone;
  });
}

}  // namespace galley::cli
