// ServeCommand: serve: runs a resident director, in the foreground or detached, and stops it.

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "common/base/child_process.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "common/project/state_folder.h"
#include "director/cli/commands.h"
#include "director/cli/director_of_project.h"
#include "director/cli/farm_check.h"
#include "director/cli/interrupt.h"
#include "director/cli/report.h"
#include "director/cli/service_manager.h"
#include "director/cli/shown_command.h"
#include "director/host/open_metrics.h"
#include "director/host/outcome_status.h"
#include "director/resident/device_door.h"
#include "director/resident/resident_director.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

constexpr absl::Duration kLookInterval = absl::Milliseconds(20);
constexpr absl::Duration kStopPatience = absl::Seconds(120);
constexpr size_t kErrorBytesMax = 64 << 10;

// Returns the store for another program of this project; empty: the project names it.
std::string StoreOf(const ServeOptions& options) {
  return options.global.store.empty() ? "" : AbsolutePath(options.global.store);
}

int FailOf(const GlobalOptions& global, const absl::Status& why) {
  if (absl::IsInvalidArgument(why)) return Fail(global, kUsage, MessageOf(why));
  if (absl::IsCancelled(why)) return Fail(global, kInterrupted, MessageOf(why));
  return Fail(global, kInfrastructure, MessageOf(why));
}

std::string ErrorFileOf(const project::Project& project) {
  return JoinPath(project.state_directory(), "logs/serve.err");
}

nlohmann::json ServingEvent(const project::Project& project, pid_t process) {
  nlohmann::json event = {{"event", "serving"}, {"project", project.name}, {"process", process}};
  if (const std::string url = director::MetricsUrl(project); !url.empty()) event["metrics"] = url;
  if (const std::string url = director::DeviceUrl(project); !url.empty()) event["devices"] = url;
  return event;
}

// Returns "SIGHUP: its terminal was closed".
std::string WhyItEnds(int signal) {
  switch (signal) {
    case SIGHUP:
      return "its terminal was closed (SIGHUP); `galley serve --detach` goes on without one";
    case SIGTERM:
      return "it was asked to (SIGTERM)";
    default:
      return "it was interrupted (SIGINT)";
  }
}

// Writes the files as `galley cook --attach` writes them.
void WriteFilesOf(uint64_t cook, const v1::CookAsk& ask, const project::Project& project) {
  ChildOptions child{.argv = {JoinPath(ProgramDirectory(), "galley"), "cook", "--attach",
                              fmt::format("{}", cook), "--project", project.root, "--quiet"},
                     .inherit_environment = true};
  if (!ask.summary_file().empty())
    child.argv.insert(child.argv.end(), {"--summary", ask.summary_file()});
  if (!ask.trace_file().empty()) child.argv.insert(child.argv.end(), {"--trace", ask.trace_file()});
  auto started = ChildProcess::Start(child);
  if (!started.ok()) {
    LogError("cook={}: its summary is not written: {}", cook, MessageOf(started.status()));
    return;
  }
  const ExitStatus ended = started->Wait();
  LogInfo("cook={}: summary={} trace={} written by `galley cook --attach`: {}", cook,
          ask.summary_file(), ask.trace_file(), ended.ToString());
}

// Tells of the detached cooks with which the director goes on.
template <typename Cooks>
void TellTakenUp(const GlobalOptions& global, const Cooks& cooks) {
  for (const uint64_t cook : cooks) {
    if (global.json) {
      PrintJson({{"event", "taken_up"}, {"cook", cook}});
    } else if (!global.quiet) {
      fmt::print(stderr,
                 "cook {0} goes on: it is detached, and the director before left it (`galley cook "
                 "--attach {0}` follows it, `galley cancel {0}` ends it)\n",
                 cook);
    }
  }
}

// ---------------- in the foreground

int Serve(const ServeOptions& options, project::Project loaded) {
  Report report(options.global);
  Cancellation stop;
  const InterruptWatch interrupt([&stop] { stop.Cancel(); });
  const auto project = std::make_shared<const project::Project>(std::move(loaded));
  auto resident = director::ResidentDirector::Open(
      {.director = {.project = project,
                    .worker_program = JoinPath(ProgramDirectory(), "galley-worker"),
                    .environment = Environment(),
                    .is_verbose = options.global.verbose,
                    .hold = {.gives_way =
                                 [&] {
                                   const auto other = FindDirectorOfAnyBuild(*project);
                                   return !other.ok() || *other != nullptr;
                                 },
                             .check = [](const std::string&) { return absl::OkStatus(); }}},
       .load = [&options] { return options.project.Open(options.global); },
       .build = OwnBuild(),
       .write_files = [&](uint64_t cook,
                          const v1::CookAsk& ask) { WriteFilesOf(cook, ask, *project); },
       .show =
           [&](const v1::ShowAsk& ask, director::Audience& audience) {
             return RunShown(ask, project->root, StoreOf(options), audience);
           },
       .listen = options.listen},
      report, stop);
  if (absl::IsAborted(resident.status())) {
    return Fail(
        options.global, kInfrastructure,
        fmt::format("a director serves this project already: {}", MessageOf(resident.status())));
  }
  if (!resident.ok()) return FailOf(options.global, resident.status());
  const std::string metrics_url = director::MetricsUrl(*project);
  report.Say(fmt::format("serving {} (process {}) at {}{}", project->name, ::getpid(),
                         (*resident)->address(),
                         metrics_url.empty() ? "" : ", metrics at " + metrics_url));
  if (const std::string clients = (*resident)->client_address(); !clients.empty())
    report.Say(fmt::format("clients of other machines at {}", clients));
  if (const std::string url = (*resident)->device_url(); !url.empty())
    report.Say(fmt::format("devices: {}", url));
  if (options.global.json) PrintJson(ServingEvent(*project, ::getpid()));
  TellTakenUp(options.global, (*resident)->taken_up());
  std::fflush(stdout);
  NotifyServiceManager("READY=1");
  const absl::Status end =
      (*resident)->Live(report, stop,
                        {.hands_over = [&interrupt] { return interrupt.terminated(); },
                         .why = [&interrupt] { return WhyItEnds(interrupt.signal()); }});
  NotifyServiceManager("STOPPING=1");
  if ((*resident)->has_left()) {
    std::fflush(stdout);
    ::_exit(kDone);
  }
  resident->reset();
  return end.ok() ? kDone : FailOf(options.global, end);
}

// ---------------- detached

// Starts this program once more, without --detach, in a session of its own. -1: errno says why.
pid_t StartDetached(const ServeOptions& options, const std::string& error_file) {
  std::vector<std::string> arguments = {JoinPath(ProgramDirectory(), "galley"), "serve"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) arguments.insert(arguments.end(), {name, value});
  };
  add("--project", options.global.project.empty() ? "" : AbsolutePath(options.global.project));
  add("--store", StoreOf(options));
  add("--listen", options.listen);
  for (std::string& one : options.project.Arguments()) arguments.push_back(std::move(one));
  if (options.global.verbose) arguments.emplace_back("--verbose");
  std::vector<char*> argv;
  for (std::string& one : arguments) argv.push_back(one.data());
  argv.push_back(nullptr);
  const FileDescriptor errors(
      ::open(error_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const FileDescriptor nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!errors.valid() || !nothing.valid()) return -1;
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setsid();
  ::signal(SIGHUP, SIG_IGN);  // exec keeps this; there is no terminal that could be closed
  ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(nothing.get(), STDOUT_FILENO);
  ::dup2(errors.get(), STDERR_FILENO);
  ::execv(argv[0], argv.data());
  ::_exit(kInfrastructure);
}

// Waits until the director is ready, or has ended.
int ServeDetached(const ServeOptions& options, const project::Project& project) {
  // A file of our own until the director serves, because somebody else may start a director just
  // now.
  const std::string error_file = fmt::format("{}.{}", ErrorFileOf(project), ::getpid());
  absl::Status made = project::MakeStateFolder(project.root);
  for (const char* folder : {"", "logs"})
    if (made.ok()) made = MakeOwnFolder(JoinPath(project.state_directory(), folder));
  if (!made.ok()) return Fail(options.global, kInfrastructure, MessageOf(made));
  const auto already = FindDirectorOfAnyBuild(project);
  if (!already.ok()) return FailOf(options.global, already.status());
  if (*already != nullptr) {
    return Fail(options.global, kInfrastructure,
                fmt::format("a director serves this project already ({})", NameOf(**already)));
  }
  const pid_t child = StartDetached(options, error_file);
  if (child < 0)
    return Fail(options.global, kInfrastructure,
                MessageOf(ErrnoStatus(errno, "start a director for", project.root)));
  std::vector<uint64_t> taken_up;
  while (true) {
    int ended = 0;
    if (::waitpid(child, &ended, WNOHANG) == child) {
      const auto said = ReadFile(error_file, kErrorBytesMax);
      ::unlink(error_file.c_str());
      std::string text = said.value_or("");
      while (text.ends_with('\n')) text.pop_back();
      if (text.starts_with("galley: ")) text.erase(0, 8);
      return Fail(options.global, static_cast<ExitCode>(WIFEXITED(ended) ? WEXITSTATUS(ended) : 3),
                  text.empty() ? "the director ended before it was ready" : text);
    }
    const auto found = FindDirector(project);
    if (found.ok() && *found != nullptr &&
        (*found)->director().process() == static_cast<uint32_t>(child)) {
      const auto& cooks = (*found)->director().taken_up();
      taken_up.assign(cooks.begin(), cooks.end());
      break;
    }
    absl::SleepFor(kLookInterval);
  }
  std::rename(error_file.c_str(), ErrorFileOf(project).c_str());
  if (options.global.json) {
    PrintJson(ServingEvent(project, child));
  } else if (!options.global.quiet) {
    const std::string metrics = director::MetricsUrl(project);
    std::fputs(fmt::format("serving {} (process {}); its log is {}{}\n", project.name, child,
                           JoinPath(project.state_directory(), "logs/director.log"),
                           metrics.empty() ? "" : ", its metrics " + metrics)
                   .c_str(),
               stderr);
    if (const std::string url = director::DeviceUrl(project); !url.empty())
      std::fputs(fmt::format("devices: {}\n", url).c_str(), stderr);
  }
  TellTakenUp(options.global, taken_up);
  return kDone;
}

// ---------------- its end

int StopServing(const GlobalOptions& global, const project::Project& project) {
  auto client = FindDirectorOfAnyBuild(project);
  if (!client.ok()) return FailOf(global, client.status());
  if (*client == nullptr) {
    if (!global.quiet) std::fputs("no director serves this project\n", stderr);
    return kDone;
  }
  const auto process = static_cast<pid_t>((*client)->director().process());
  const auto answer = (*client)->Stop();
  if (!answer.ok() && !absl::IsUnavailable(answer.status()))
    return Fail(global, kInfrastructure, MessageOf(answer.status()));
  client->reset();  // the director waits for connected clients
  const absl::Time until = absl::Now() + kStopPatience;
  while (IsRunning(process) && absl::Now() < until) absl::SleepFor(kLookInterval);
  if (IsRunning(process)) {
    return Fail(global, kInfrastructure,
                fmt::format("process {} has not ended for {:.0f} s; `kill {}` ends it at once",
                            process, absl::ToDoubleSeconds(kStopPatience), process));
  }
  if (!global.quiet)
    std::fputs(fmt::format("the director (process {}) has ended\n", process).c_str(), stderr);
  return kDone;
}

int StopFarDirector(const GlobalOptions& global, const FarDirector& far) {
  auto client = ConnectDirectorOfAnyBuild(far);
  if (!client.ok()) return FailOf(global, client.status());
  const std::string name = fmt::format("the director at {} ({})", far.address, NameOf(**client));
  const auto answer = (*client)->Stop();
  if (absl::IsPermissionDenied(answer.status()) || absl::IsUnauthenticated(answer.status()))
    return Fail(global, kUsage, MessageOf(answer.status()));
  if (!answer.ok() && !absl::IsUnavailable(answer.status()))
    return Fail(global, kInfrastructure, MessageOf(answer.status()));
  const absl::Time until = absl::Now() + kStopPatience;
  bool has_ended = (*client)->HasEnded();
  while (!has_ended && absl::Now() < until) {
    absl::SleepFor(kLookInterval);
    has_ended = (*client)->HasEnded();
  }
  if (!has_ended)
    return Fail(global, kInfrastructure,
                fmt::format("{} has not ended for {:.0f} s; its log says what it waits for "
                            "(`galley logs director --director {}`)",
                            name, absl::ToDoubleSeconds(kStopPatience), far.address));
  if (!global.quiet) std::fputs(fmt::format("{} has ended\n", name).c_str(), stderr);
  return kDone;
}

}  // namespace

int RunServe(const ServeOptions& options) {
  if (!options.far.address.empty()) return StopFarDirector(options.global, options.far);
  auto project =
      options.stop ? ProjectOfDirector(options.global) : options.project.Open(options.global);
  if (!project.ok()) return Fail(options.global, kUsage, MessageOf(project.status()));
  if (options.stop) return StopServing(options.global, *project);
  if (const absl::Status farm = CheckFarm(*project); !farm.ok())
    return Fail(options.global, kUsage, MessageOf(farm));
  if (const absl::Status metrics = metrics::CheckAddress(project->director.metrics); !metrics.ok())
    return Fail(options.global, kUsage, MessageOf(metrics));
  if (const absl::Status devices = director::CheckDeviceDoor(*project); !devices.ok())
    return Fail(options.global, kUsage, MessageOf(devices));
  return options.detach ? ServeDetached(options, *project) : Serve(options, *std::move(project));
}

}  // namespace galley::cli
