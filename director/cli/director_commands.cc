// DirectorCommands: status, top, cancel, drain: commands that ask a director, and never host a
// director; and readmit, which a director notices.

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/counted.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "director/cli/commands.h"
#include "director/cli/director_of_project.h"
#include "director/cli/interrupt.h"
#include "director/cli/status_text.h"
#include "director/cli/terminal.h"
#include "director/cli/top_view.h"
#include "director/host/director.h"
#include "director/host/near_names.h"
#include "director/resident/last_cooks.h"
#include "director/serve/package_query_client.h"
#include "director/shell/quarantine_file.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

using director::DirectorClient;

constexpr absl::Duration kTopInterval = absl::Seconds(1);

// FindRunning: returns who answers questions about packages now; null: nobody does.
using FindRunning = std::function<std::unique_ptr<director::PackageQueryClient>()>;
using AskStatus = std::function<absl::StatusOr<v1::StatusAnswer>(const v1::StatusAsk& ask)>;
using AskDirector = std::function<int(DirectorClient& client, const FindRunning& find_running)>;

int WithFarDirector(const GlobalOptions& options, const FarDirector& far, const AskDirector& ask) {
  const auto client = ConnectDirector(far);
  if (!client.ok()) {
    const bool is_wrong_use = absl::IsInvalidArgument(client.status());
    return Fail(options, is_wrong_use ? kUsage : kInfrastructure, MessageOf(client.status()));
  }
  return ask(**client, [&]() -> std::unique_ptr<director::PackageQueryClient> {
    const auto tls = TlsOf(far);
    return tls.ok() ? director::PackageQueryClient::At(far.address, *tls) : nullptr;
  });
}

FindRunning FindRunningOf(const project::Project& project) {
  return
      [socket = director::SocketOf(project)] { return director::PackageQueryClient::Find(socket); };
}

// Says that nobody can be asked, and how the last cook ended.
int FailWithoutDirector(const GlobalOptions& options, const project::Project& project) {
  std::string last;
  const auto ended = director::LastCooks(project.state_directory()).All();
  if (!ended.empty()) last = fmt::format("; {}", EndText(ended[0], absl::Now()));
  return Fail(
      options, kInfrastructure,
      fmt::format("no director serves {}, and no cook runs there{}; `galley serve --detach` "
                  "starts a director",
                  project.root, last));
}

// Runs `ask` with the project's director, or the director of another machine. Without a director
// the exit code is 3: nobody can answer.
int WithDirector(const GlobalOptions& options, const FarDirector& far, const AskDirector& ask) {
  if (!far.address.empty()) return WithFarDirector(options, far, ask);
  const auto project = ProjectOfDirector(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  const auto client = FindDirector(*project);
  if (!client.ok()) return Fail(options, kInfrastructure, MessageOf(client.status()));
  if (*client != nullptr) return ask(**client, FindRunningOf(*project));
  const auto hosted = FindHostedCook(*project);
  const auto status = hosted.ok() && *hosted != nullptr
                          ? (*hosted)->Status()
                          : absl::StatusOr<v1::StatusAnswer>(absl::NotFoundError("none"));
  if (!status.ok()) return FailWithoutDirector(options, *project);
  return Fail(
      options, kInfrastructure,
      fmt::format("no director serves {}: process {} (`galley cook`) cooks there for itself, "
                  "and only answers questions; Ctrl-C there, or `kill -INT {}`, ends its "
                  "cook",
                  project->root, status->process(), status->process()));
}

// Runs `show` with whoever knows the status: a director, or a command that hosts its own cook.
int WithStatus(const GlobalOptions& options, const FarDirector& far,
               const std::function<int(const AskStatus& ask, const FindRunning& running)>& show) {
  if (far.address.empty()) {
    const auto project = ProjectOfDirector(options);
    if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
    const auto client = FindDirector(*project);
    if (client.ok() && *client == nullptr) {
      const auto hosted = FindHostedCook(*project);
      if (!hosted.ok()) return Fail(options, kInfrastructure, MessageOf(hosted.status()));
      if (*hosted == nullptr) return FailWithoutDirector(options, *project);
      return show([&](const v1::StatusAsk& ask) { return (*hosted)->Status(ask); },
                  FindRunningOf(*project));
    }
  }
  return WithDirector(options, far, [&](DirectorClient& client, const FindRunning& running) {
    return show([&](const v1::StatusAsk& ask) { return client.Status(ask); }, running);
  });
}

int FailOf(const GlobalOptions& options, const absl::Status& why) {
  const bool is_wrong_use = absl::IsNotFound(why) || absl::IsInvalidArgument(why) ||
                            absl::IsPermissionDenied(why) || absl::IsUnauthenticated(why);
  return Fail(options, is_wrong_use ? kUsage : kInfrastructure, MessageOf(why));
}

// Returns the size of the terminal at standard output; without a terminal there are no limits.
TopView::Size SizeOfStandardOutput() {
  winsize window{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 1;
  if (!is_known) return {.columns = SIZE_MAX, .lines = SIZE_MAX};
  return {.columns = window.ws_col, .lines = window.ws_row};
}

// RawKeys: reads single keys of the terminal, without Enter, during its life.
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

  // kNone: no key within the time.
  TopView::Key Next(absl::Duration patience) const {
    pollfd in{is_raw_ ? STDIN_FILENO : -1, POLLIN, 0};
    const int ready = ::poll(&in, 1, static_cast<int>(absl::ToInt64Milliseconds(patience)));
    if (ready != 1) return TopView::Key::kNone;
    std::string bytes(kKeyBytesMax, '\0');
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    bytes.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return TopView::KeyOf(bytes);
  }

 private:
  static constexpr size_t kKeyBytesMax = 8;  // bytes that one key sends
  termios before_{};
  bool is_raw_ = false;
};

int TopOnTerminal(const GlobalOptions& options, const AskStatus& ask_status,
                  const FindRunning& find_running) {
  constexpr size_t kReasonsMax = 8;
  const InterruptWatch interrupt([] {});
  const RawKeys keys;
  TopView view;
  const auto ask_package = [&](const std::string& package) -> absl::StatusOr<v1::PackageAnswer> {
    const auto running = find_running();
    if (running == nullptr) return absl::UnavailableError("the director is gone");
    return running->Ask(package, kReasonsMax);
  };
  while (true) {
    v1::StatusAsk ask;
    ask.set_worker(view.worker());
    const auto status = ask_status(ask);
    if (!status.ok()) {
      std::fputs("\n", stdout);
      return FailOf(options, status.status());
    }
    std::fputs(
        ("\x1b[H\x1b[2J" + view.Draw(*status, absl::Now(), SizeOfStandardOutput(), ask_package))
            .c_str(),
        stdout);
    std::fflush(stdout);
    const absl::Time next = absl::Now() + kTopInterval;
    TopView::Key key = TopView::Key::kNone;
    while (absl::Now() < next && key == TopView::Key::kNone && !interrupt.interrupted())
      key = keys.Next(std::min(absl::Milliseconds(100), next - absl::Now()));
    if (interrupt.interrupted() || !view.Press(key)) return kDone;
  }
}

int ShowStatus(const GlobalOptions& options, const AskStatus& ask_status) {
  const auto status = ask_status({});
  if (!status.ok()) return FailOf(options, status.status());
  if (options.json) {
    PrintJson(StatusJson(*status));
  } else {
    fmt::print("{}", StatusText(*status, absl::Now(), SizeOfStandardOutput().columns));
  }
  return kDone;
}

}  // namespace

int RunStatus(const GlobalOptions& options, const FarDirector& far) {
  return WithStatus(options, far, [&](const AskStatus& ask, const FindRunning&) {
    return ShowStatus(options, ask);
  });
}

int RunTop(const GlobalOptions& options, const FarDirector& far) {
  return WithStatus(options, far, [&](const AskStatus& ask, const FindRunning& find_running) {
    const bool is_live = !options.json && ::isatty(STDOUT_FILENO) == 1 &&
                         TerminalOf(true, std::getenv("TERM"), nullptr).can_redraw;
    return is_live ? TopOnTerminal(options, ask, find_running) : ShowStatus(options, ask);
  });
}

int RunCancel(const GlobalOptions& options, const FarDirector& far, uint64_t cook) {
  return WithDirector(options, far, [&](DirectorClient& client, const FindRunning&) -> int {
    if (const absl::Status cancelled = client.Cancel(cook); !cancelled.ok())
      return FailOf(options, cancelled);
    if (options.json) PrintJson({{"cancelled", cook}});
    if (!options.json && !options.quiet)
      std::fputs(fmt::format("cook {} is cancelled\n", cook).c_str(), stderr);
    return kDone;
  });
}

namespace {

void PrintQuarantined(const GlobalOptions& options, const char* event,
                      const std::vector<director::QuarantinedWorker>& workers) {
  for (const director::QuarantinedWorker& one : workers) {
    const std::string since = absl::FormatTime(absl::RFC3339_sec, one.since, absl::UTCTimeZone());
    if (options.json) {
      PrintJson({{"event", event},
                 {"worker", one.worker},
                 {"machine", one.machine},
                 {"since", since},
                 {"why", one.why}});
    } else {
      fmt::print("{}@{}  since {}  {}\n", one.worker, one.machine, since, one.why);
    }
  }
}

// Returns `error`, with the nearest names of quarantined workers.
int FailUnknown(const GlobalOptions& options, const director::QuarantineFile& file,
                const std::string& worker, const absl::Status& error) {
  std::vector<std::string> names;
  if (const auto all = file.All(); all.ok()) {
    for (const director::QuarantinedWorker& one : *all) {
      names.push_back(worker.find('@') == std::string::npos
                          ? one.worker
                          : fmt::format("{}@{}", one.worker, one.machine));
    }
  }
  SortUnique(names);
  return FailOf(options,
                absl::NotFoundError(MessageOf(error) +
                                    director::NearText(director::NearNames(worker, names))));
}

}  // namespace

int RunReadmit(const GlobalOptions& options, const std::string& worker) {
  const auto project = ProjectOfDirector(options);
  if (!project.ok()) return Fail(options, kUsage, MessageOf(project.status()));
  director::QuarantineFile file(project->state_directory());
  if (worker.empty()) {
    const auto all = file.All();
    if (!all.ok()) return FailOf(options, all.status());
    PrintQuarantined(options, "quarantined", *all);
    if (all->empty() && !options.json && !options.quiet)
      std::fputs("no worker is quarantined\n", stderr);
    return kDone;
  }
  const auto gone = file.Remove(worker);
  if (absl::IsNotFound(gone.status())) return FailUnknown(options, file, worker, gone.status());
  if (!gone.ok()) return FailOf(options, gone.status());
  if (options.json) PrintQuarantined(options, "readmitted", *gone);
  if (options.json || options.quiet) return kDone;
  for (const director::QuarantinedWorker& one : *gone)
    std::fputs(
        fmt::format("{}@{} may work again, from its next start on\n", one.worker, one.machine)
            .c_str(),
        stderr);
  return kDone;
}

int RunDrain(const GlobalOptions& options, const FarDirector& far, const std::string& worker) {
  return WithDirector(options, far, [&](DirectorClient& client, const FindRunning&) -> int {
    v1::DrainAsk ask;
    ask.set_worker(worker);
    const auto drained = client.Drain(ask);
    if (!drained.ok()) return FailOf(options, drained.status());
    if (options.json) PrintJson({{"drained", drained->workers()}});
    if (!options.json && !options.quiet)
      std::fputs((drained->workers_size() == 1
                      ? std::string("1 worker ends when it has nothing in hand\n")
                      : fmt::format("{} workers end when they have nothing in hand\n",
                                    drained->workers_size()))
                     .c_str(),
                 stderr);
    return kDone;
  });
}

}  // namespace galley::cli
