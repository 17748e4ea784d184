#include "director/launch/ssh_spawner.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <map>
#include <utility>

#include "common/base/clock.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/human_bytes.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "director/launch/process_launcher.h"
#include "director/launch/worker_token.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr absl::Duration kConnectsWithin = absl::Seconds(1);
constexpr absl::Duration kSoon = absl::Seconds(30);  // a worker that lived this long did start
constexpr absl::Duration kPauseFirst = absl::Seconds(2), kPauseMax = absl::Minutes(1);
constexpr int kConnectSeconds = 10;
constexpr int kExitDone = 0, kExitDrained = 75;  // of galley-worker
constexpr int kExitLacksPrograms = 91;           // of the script that becomes the worker
constexpr int kBringSeconds = 1'800;
constexpr int kTicketPipeBytes = 1 << 20;

class SshSpawner final : public WorkerSpawner {
 public:
  explicit SshSpawner(SshOptions options)
      : options_(std::move(options)), machines_(options_.hosts.size()) {}

  absl::Time NextStart(absl::Time now) override {
    while (!begun_.empty() && begun_.front() + kConnectsWithin <= now) begun_.pop_front();
    if (begun_.size() >= static_cast<size_t>(kConnectsMax)) return begun_.front() + kConnectsWithin;
    const size_t machine = BestMachine();
    return machine == machines_.size() ? absl::InfiniteFuture() : machines_[machine].not_before;
  }

  absl::StatusOr<ChildProcess> Start(const WorkerStart& start,
                                     const LaunchCallbacks& callbacks) override {
    const absl::Time now = clock_.Monotonic();
    begun_.push_back(now);
    const size_t machine = BestMachine();
    Running running{.machine = machine, .log_begin = LogSize(start.log_file)};
    absl::StatusOr<ChildProcess> child = StartWorker(running, start, callbacks);
    if (!child.ok()) {
      Fail(machine);
      return child.status();
    }
    machines_[machine].is_free = false;
    machines_[machine].since = now;
    running_[start.worker_id] = std::move(running);
    return child;
  }

  std::optional<ChildProcess> GoOn(const WorkerStart& start, const ExitStatus& status,
                                   const LaunchCallbacks& callbacks) override {
    const auto found = running_.find(start.worker_id);
    if (found == running_.end()) return std::nullopt;
    Running& running = found->second;
    const bool lacks_programs = running.step == Step::kTry && status.code == kExitLacksPrograms;
    if (!lacks_programs && (running.step != Step::kBring || !status.ok())) return std::nullopt;
    running.step = lacks_programs ? Step::kBring : Step::kBrought;
    begun_.push_back(clock_.Monotonic());
    machines_[running.machine].since = clock_.Monotonic();
    absl::StatusOr<ChildProcess> child = lacks_programs ? Bring(running.machine, start, callbacks)
                                                        : StartWorker(running, start, callbacks);
    if (child.ok()) return *std::move(child);
    running.trouble = MessageOf(child.status());
    return std::nullopt;
  }

  std::string ReasonOf(const WorkerStart& start, const ExitStatus& status) override {
    const auto found = running_.find(start.worker_id);
    if (found == running_.end()) return status.ToString();
    const Running running = std::move(found->second);
    running_.erase(found);
    Machine& machine = machines_[running.machine];
    machine.is_free = true;
    const bool is_in_order = status.code == kExitDone || status.code == kExitDrained;
    const bool was_ended = status.signal == SIGTERM || status.signal == SIGKILL;  // ended by us
    if (!is_in_order && !was_ended && clock_.Monotonic() - machine.since < kSoon) {
      Fail(running.machine);
    } else {
      machine.failures = 0;
    }
    if (!running.trouble.empty())
      return fmt::format("{}: {}", NameOf(running.machine), running.trouble);
    const std::string said = SaidSince(start.log_file, running.log_begin);
    return fmt::format("{}: {}{}{}", NameOf(running.machine),
                       status.code == 255 ? "ssh failed (255)" : status.ToString(),
                       said.empty() ? "" : "; it said: ", said);
  }

 private:
  struct Machine {
    bool is_free = true;
    absl::Time since;  // its last start
    absl::Time not_before = absl::InfinitePast();
    int failures = 0;  // in a row
  };
  // Step: for a worker whose machine may lack the programs: its first child ends with
  // kExitLacksPrograms, the second child brings the programs, the third child is the worker.
  enum class Step : uint8_t { kTry, kBring, kBrought };
  struct Running {
    size_t machine = 0;
    Step step = Step::kTry;
    FileDescriptor input;    // the worker ends with its input
    uint64_t log_begin = 0;  // bytes that the log had before
    std::string trouble;     // why the worker did not go on
  };

  std::string NameOf(size_t machine) const {
    const FarmHost& host = options_.hosts[machine];
    return host.port == 0 ? host.name : fmt::format("{}:{}", host.name, host.port);
  }

  // Returns the free machine that may be used first; machines_.size(): none is free.
  size_t BestMachine() const {
    size_t best = machines_.size();
    for (size_t i = 0; i < machines_.size(); ++i) {
      if (!machines_[i].is_free) continue;
      if (best == machines_.size() || machines_[i].not_before < machines_[best].not_before)
        best = i;
    }
    return best;
  }

  void Fail(size_t machine) {
    Machine& failed = machines_[machine];
    const absl::Duration pause =
        std::min(kPauseFirst * (1 << std::min(failed.failures, 16)), kPauseMax);
    ++failed.failures;
    failed.not_before = clock_.Monotonic() + pause;
  }

  absl::StatusOr<ChildProcess> StartWorker(Running& running, const WorkerStart& start,
                                           const LaunchCallbacks& callbacks) {
    const FarmHost& host = options_.hosts[running.machine];
    ASSIGN_OR_RETURN(const FileDescriptor log, OpenWorkerLog(start.log_file));
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for", host.name);
    const FileDescriptor reading(ends[0]);
    running.input = FileDescriptor(ends[1]);

    ASSIGN_OR_RETURN(Ticket ticket, options_.ticket());
    ticket.token = NewToken();
    ticket.names = {start.worker_id};
    const std::string socket = fmt::format("/tmp/galley-{}.sock", NewToken().substr(0, 16));
    const std::string director =
        std::exchange(ticket.director, options_.forward ? "unix:" + socket : ticket.director);
    // Nobody reads yet: the pipe must hold the whole line.
    const std::string line = EncodeTicket(ticket) + "\n";
    const int holds = ::fcntl(running.input.get(), F_SETPIPE_SZ, kTicketPipeBytes);
    if (line.size() > static_cast<size_t>(holds > 0 ? holds : 64 << 10))
      return InvalidArgumentError("a ticket of {} bytes is too long: how large is [farm] tls_ca?",
                                  line.size());
    RETURN_IF_ERROR(WriteAll(running.input.get(), line, host.name));

    ChildOptions options;
    ASSIGN_OR_RETURN(const std::string command, CommandOn(host, socket));
    options.argv = {"/usr/bin/env", "ssh"};
    AddOptions(host, options.argv);
    if (options_.forward)
      options.argv.insert(options.argv.end(), {"-R", fmt::format("{}:{}", socket, director)});
    options.argv.insert(options.argv.end(), {"--", host.name, command});
    if (callbacks.on_token) callbacks.on_token(ticket.names, ticket.token);
    auto child = StartSsh(std::move(options), reading, log);
    if (child.ok() && callbacks.on_state)
      callbacks.on_state(start.worker_id, LaunchState::kStarting, NameOf(running.machine));
    return child;
  }

  // The programs are its standard input; the child ends when they are there.
  absl::StatusOr<ChildProcess> Bring(size_t machine, const WorkerStart& start,
                                     const LaunchCallbacks& callbacks) {
    const FarmHost& host = options_.hosts[machine];
    ASSIGN_OR_RETURN(const FileDescriptor log, OpenWorkerLog(start.log_file));
    ASSIGN_OR_RETURN(const Bundle bundle, options_.worker.bundle->Look());
    ASSIGN_OR_RETURN(const std::string file, options_.worker.bundle->Write());
    if (callbacks.on_state) {
      callbacks.on_state(start.worker_id, LaunchState::kQueued,
                         fmt::format("{} gets the programs ({})", NameOf(machine),
                                     HumanBytes(bundle.size_bytes())));
    }
    const FileDescriptor programs(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!programs.valid()) return ErrnoStatus(errno, "open", file);
    ChildOptions options;
    options.argv = {"/usr/bin/env", "timeout", fmt::format("{}", kBringSeconds), "ssh"};
    AddOptions(host, options.argv);
    const std::string text =
        BundleScript(bundle) + "galley_whole \"$galley_dir\" || galley_unpack ''\n";
    options.argv.insert(options.argv.end(), {"--", host.name, CommandOfText(text)});
    return StartSsh(std::move(options), programs, log);
  }

  void AddOptions(const FarmHost& host, std::vector<std::string>& argv) const {
    argv.insert(argv.end(), options_.arguments.begin(), options_.arguments.end());
    for (const std::string& option : std::vector<std::string>{
             "BatchMode=yes", fmt::format("ConnectTimeout={}", kConnectSeconds),
             "ServerAliveInterval=2", "ServerAliveCountMax=3", "ControlMaster=no",
             "ControlPath=none", "ForwardAgent=no", "ForwardX11=no", "ExitOnForwardFailure=yes"})
      argv.insert(argv.end(), {"-o", option});
    if (host.port != 0) argv.insert(argv.end(), {"-p", fmt::format("{}", host.port)});
  }

  static absl::StatusOr<ChildProcess> StartSsh(ChildOptions options, const FileDescriptor& input,
                                               const FileDescriptor& log) {
    options.inherit_environment = true;
    options.no_new_privileges = false;  // ssh-keysign
    options.inherit = {{input.get(), STDIN_FILENO},
                       {log.valid() ? log.get() : STDERR_FILENO, STDOUT_FILENO},
                       {log.valid() ? log.get() : STDERR_FILENO, STDERR_FILENO}};
    return ChildProcess::Start(options);
  }

  // Runs a known shell, whatever the user's shell is. sshd leaves the socket behind.
  absl::StatusOr<std::string> CommandOn(const FarmHost& host, const std::string& socket) const {
    RemoteWorker worker = options_.worker;
    worker.slots = host.slots;
    const std::string becomes = BecomeWorker(worker, "--until-input-ends");
    const std::string text =
        options_.forward ? fmt::format("({}); code=$?; rm -f {}; exit $code", becomes, socket)
                         : becomes;
    if (worker.bundle == nullptr) return fmt::format("exec /bin/sh -c {}", ShellWord(text));
    ASSIGN_OR_RETURN(const Bundle bundle, worker.bundle->Look());
    return CommandOfText(
        fmt::format("trap 'rm -f {}' EXIT\n{}\n"
                    "galley_whole \"$galley_dir\" || exit {}\n{}",
                    socket, BundleScript(bundle), kExitLacksPrograms, text));
  }

  const SshOptions options_;
  SystemClock clock_;
  std::vector<Machine> machines_;
  std::deque<absl::Time> begun_;
  std::map<std::string, Running> running_;  // by worker
};

}  // namespace

std::unique_ptr<Launcher> CreateSshLauncher(SshOptions options, LaunchCallbacks callbacks) {
  return CreateProcessLauncher(std::make_unique<SshSpawner>(std::move(options)),
                               std::move(callbacks));
}

}  // namespace galley::director
