#include "common/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sstream>
#include <thread>

#include "common/base/descriptor_limit.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/mutex.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

extern char** environ;

namespace galley {
namespace {

// KillOrphans looks so often: what it kills may have children, which fall to us next.
constexpr int kOrphanRoundsMax = 200;
constexpr useconds_t kOrphanRoundUs = 5'000;
constexpr size_t kChildrenBytesMax = 1 << 20;
constexpr size_t kTreeProcessesMax = 4'096;  // looked at below one
constexpr size_t kChildStackBytes = 256 << 10;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// The children that KillOrphans leaves alone. A child is entered in one step with its fork and
// taken out in one step with its reaping, so that no other child is ever taken for it.
struct Children {
  base::Mutex mutex;
  std::set<pid_t> held GALLEY_GUARDED_BY(mutex);
  bool adopts GALLEY_GUARDED_BY(mutex) = false;
};

Children& AllChildren() {
  static Children& children = *new Children();
  return children;
}

struct ProcessStat {
  char state = 'X';
  absl::Duration time;  // its own, and of children that it waited for
};

// Reads the stat file of a process, or of a thread (where `time` is the thread's and the process's
// children's).
// Source: proc_pid_stat(5).
ProcessStat StatOf(const std::string& path) {
  ProcessStat stat;
  const auto text = ReadFile(path, 4096);
  // The name, in parentheses, may hold anything.
  const size_t name_end = text.ok() ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return stat;
  std::istringstream words(text->substr(name_end + 1));
  std::string ignored;
  words >> stat.state;
  for (int field = 4; field < 14; ++field) words >> ignored;
  int64_t sum = 0;
  for (int field = 14; field <= 17; ++field) {
    int64_t ticks = 0;
    words >> ticks;
    sum += ticks;
  }
  stat.time = absl::Seconds(sum) / static_cast<int64_t>(::sysconf(_SC_CLK_TCK));
  return stat;
}

bool HasThreadThatWantsMore(pid_t pid) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (const std::string& task : NamesIn(tasks)) {
    const char state = StatOf(fmt::format("{}/{}/stat", tasks, task)).state;
    if (state == 'R' || state == 'D') return true;
  }
  return false;
}

std::vector<pid_t> ProcessesBelow(pid_t pid) {
  std::vector<pid_t> below = ChildrenOf(pid);
  for (size_t i = 0; i < below.size() && i < kTreeProcessesMax; ++i) {
    const std::vector<pid_t> children = ChildrenOf(below[i]);
    below.insert(below.end(), children.begin(), children.end());
  }
  return below;
}

// Prepared: what the child needs, laid out before fork, because between fork and exec only
// async-signal-safe calls are made.
struct Prepared {
  std::vector<char*> argv;
  std::vector<char*> envp;
  std::vector<std::string> environment;
  std::optional<uint64_t> descriptors_before;  // what we were started with, if we raised it
  uint64_t descriptors_hard = 0;
};

Prepared Prepare(const ChildOptions& options) {
  Prepared prepared;
  for (const std::string& argument : options.argv)
    prepared.argv.push_back(const_cast<char*>(argument.c_str()));
  prepared.argv.push_back(nullptr);
  if (options.inherit_environment) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string_view text(*entry);
      const std::string_view name = text.substr(0, text.find('=') + 1);
      const bool replaced = std::ranges::any_of(
          options.environment, [&](const std::string& ours) { return ours.starts_with(name); });
      if (!replaced) prepared.environment.emplace_back(text);
    }
  }
  prepared.environment.insert(prepared.environment.end(), options.environment.begin(),
                              options.environment.end());
  for (std::string& entry : prepared.environment) prepared.envp.push_back(entry.data());
  prepared.envp.push_back(nullptr);
  prepared.descriptors_before = DescriptorLimitBefore();
  prepared.descriptors_hard = CurrentDescriptorLimit().hard;
  return prepared;
}

void SetLimit(__rlimit_resource_t resource, uint64_t value) {
  if (value == 0) return;
  const rlimit limit{value, value};
  ::setrlimit(resource, &limit);
}

// The child's message about the descriptor through which its calls are told. The parent fetches the
// descriptor, since the call that sends descriptors may wait for somebody who has it.
struct CallsAt {
  pid_t pid = 0;
  int descriptor = -1;
};

// Waits for it. Not valid: the other side has closed, or it cannot be had.
FileDescriptor FetchDescriptor(int socket) {
  CallsAt at;
  ssize_t count = 0;
  do {
    count = ::read(socket, &at, sizeof(at));
  } while (count < 0 && errno == EINTR);
  if (count != sizeof(at)) return FileDescriptor();
  const FileDescriptor child(static_cast<int>(::syscall(SYS_pidfd_open, at.pid, 0)));
  FileDescriptor fetched(
      static_cast<int>(::syscall(SYS_pidfd_getfd, child.get(), at.descriptor, 0)));
  const int failure = fetched.valid() ? 0 : errno;
  [[maybe_unused]] const ssize_t told = ::write(socket, &failure, sizeof(failure));
  return fetched;
}

// errno, or 0.
int BeginWatch(const ChildWatch& watch, int socket) {
  const CallsAt at{.pid = ::getpid(), .descriptor = watch.BeginInChild()};
  if (at.descriptor < 0) return -at.descriptor;
  int failure = EPERM;
  if (::write(socket, &at, sizeof(at)) != sizeof(at) ||
      ::read(socket, &failure, sizeof(failure)) != sizeof(failure))
    return EPIPE;
  ::close(at.descriptor);
  return failure;
}

// Until the child has become the program, or could not: its first calls wait, too.
void ServeUntilStarted(ChildWatch& watch, int error_fd) {
  while (true) {
    pollfd events[2] = {{error_fd, POLLIN, 0}, {watch.descriptor(), POLLIN, 0}};
    if (::poll(events, 2, -1) < 0 && errno != EINTR) return;
    if (events[0].revents != 0) return;
    if (events[1].revents != 0) watch.Serve();
  }
}

// The instructions for the child; they lie in our memory.
struct ChildStart {
  const ChildOptions& options;
  const Prepared& prepared;
  pid_t parent = 0;
  int error_fd = -1;
  int null_fd = -1;
  int watch_socket = -1;
};

// No handler of ours may run in the child, which may share our memory.
void ForgetHandlers() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN ||
        action.sa_handler == SIG_DFL)
      continue;
    action = {};
    action.sa_handler = SIG_DFL;
    ::sigaction(signal, &action, nullptr);
  }
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
}

[[noreturn]] void RunChild(const ChildStart& start) {
  const ChildOptions& options = start.options;
  const Prepared& prepared = start.prepared;
  ::prctl(PR_SET_PDEATHSIG, options.death_signal);
  if (::getppid() != start.parent) ::_exit(127);  // the parent died before prctl
  if (options.new_process_group) ::setpgid(0, 0);
  if (options.no_new_privileges) ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  int failure = 0;
  if (options.walls != nullptr) {
    failure = options.walls->EnterInChild();
    ::prctl(PR_SET_PDEATHSIG, options.death_signal);  // another user's process may lose it
  }
  ForgetHandlers();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);

  // Moves every descriptor above the targets first, so that no mapping overwrites another's source.
  int moved[16];
  const size_t count = std::min<size_t>(options.inherit.size(), 16);
  bool has_stdin = false;
  for (size_t i = 0; i < count; ++i) {
    moved[i] = ::fcntl(options.inherit[i].first, F_DUPFD_CLOEXEC, 100);
    if (options.inherit[i].second == 0) has_stdin = true;
  }
  if (!has_stdin) ::dup2(start.null_fd, 0);
  for (size_t i = 0; i < count; ++i) ::dup2(moved[i], options.inherit[i].second);

  if (failure == 0 && !options.working_directory.empty() &&
      ::chdir(options.working_directory.c_str()) != 0)
    failure = errno;
  SetLimit(RLIMIT_FSIZE, options.file_size_bytes_max);
  SetLimit(RLIMIT_AS, options.memory_bytes_max);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (prepared.descriptors_before.has_value()) {
    const rlimit descriptors{*prepared.descriptors_before, prepared.descriptors_hard};
    ::setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  if (failure == 0 && options.watch != nullptr)
    failure = BeginWatch(*options.watch, start.watch_socket);
  if (failure == 0) {
    ::execve(prepared.argv[0], prepared.argv.data(), prepared.envp.data());
    failure = errno;
  }
  [[maybe_unused]] const ssize_t written = ::write(start.error_fd, &failure, sizeof(failure));
  ::_exit(127);
}

// Forks so that the child shares our memory, on a stack of its own, until it has become the
// program: our page tables are not copied, which takes 47 ms for 1 GiB. We wait meanwhile.
// Sanitizers keep books of memory and stacks that the child would write in.
pid_t StartSharing(const ChildStart& start) {
  if (kIsSanitized) {
    const pid_t pid = ::fork();
    if (pid == 0) RunChild(start);
    return pid;
  }
  void* const stack = ::mmap(nullptr, kChildStackBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return -1;
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid =
      ::clone([](void* argument) -> int { RunChild(*static_cast<const ChildStart*>(argument)); },
              static_cast<char*>(stack) + kChildStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD,
              const_cast<ChildStart*>(&start));
  const int failure = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::munmap(stack, kChildStackBytes);
  errno = failure;
  return pid;
}

bool IsEnded(pid_t pid, int options) {
  siginfo_t info{};
  int result = 0;
  do {
    result = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT | options);
  } while (result < 0 && errno == EINTR);
  return result < 0 || info.si_pid == pid;
}

ExitStatus Decode(int status, const rusage& usage) {
  ExitStatus exit;
  if (WIFEXITED(status)) exit.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit.signal = WTERMSIG(status);
  const auto micros = [](const timeval& t) {
    return static_cast<uint64_t>(t.tv_sec) * 1'000'000 + static_cast<uint64_t>(t.tv_usec);
  };
  exit.cpu_us = micros(usage.ru_utime) + micros(usage.ru_stime);
  exit.memory_peak_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
  return exit;
}

}  // namespace

std::vector<pid_t> ChildrenOf(pid_t pid) {
  std::vector<pid_t> children;
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  for (const std::string& task : NamesIn(tasks)) {
    const auto text = ReadFile(fmt::format("{}/{}/children", tasks, task), kChildrenBytesMax);
    if (!text.ok()) continue;
    std::istringstream words(*text);
    for (pid_t child = 0; words >> child;) children.push_back(child);
  }
  return children;
}

std::string ExitStatus::ToString() const {
  if (signal != 0) return fmt::format("signal {} ({})", signal, ::strsignal(signal));
  return fmt::format("exit code {}", code);
}

absl::StatusOr<ChildProcess> ChildProcess::Start(const ChildOptions& options) {
  if (options.argv.empty()) return absl::InvalidArgumentError("no program to start");
  const Prepared prepared = Prepare(options);
  int error_pipe[2];
  if (::pipe2(error_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for", options.argv[0]);
  FileDescriptor error_read(error_pipe[0]);
  FileDescriptor error_write(error_pipe[1]);
  FileDescriptor null_file(::open("/dev/null", O_RDWR | O_CLOEXEC));
  int watch_pair[2] = {-1, -1};
  if (options.watch != nullptr &&
      ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, watch_pair) != 0)
    return ErrnoStatus(errno, "socket for", options.argv[0]);
  const FileDescriptor watch_read(watch_pair[0]);
  FileDescriptor watch_write(watch_pair[1]);
  // Serves the child's calls while we wait for it.
  std::thread server;
  if (options.watch != nullptr) {
    server = std::thread([&] {
      options.watch->Take(FetchDescriptor(watch_read.get()));
      ServeUntilStarted(*options.watch, error_read.get());
    });
  }
  const ChildStart start{.options = options,
                         .prepared = prepared,
                         .parent = ::getpid(),
                         .error_fd = error_write.get(),
                         .null_fd = null_file.get(),
                         .watch_socket = watch_write.get()};
  pid_t pid = -1;
  {
    Children& children = AllChildren();
    base::MutexLock lock(children.mutex);
    pid = StartSharing(start);
    if (pid > 0) children.held.insert(pid);
  }
  const int why = errno;
  error_write.Reset();
  watch_write.Reset();
  if (server.joinable()) server.join();
  if (pid < 0) return ErrnoStatus(why, "fork for", options.argv[0]);
  int failure = 0;
  ssize_t count = 0;
  do {
    count = ::read(error_read.get(), &failure, sizeof(failure));
  } while (count < 0 && errno == EINTR);
  ChildProcess child;
  child.pid_ = pid;
  child.group_ = options.new_process_group;
  rusage own{};
  if (!kIsSanitized && ::getrusage(RUSAGE_SELF, &own) == 0) child.hidden_peak_kb_ = own.ru_maxrss;
  if (count == sizeof(failure)) {
    child.Wait();
    return ErrnoStatus(failure, "start", options.argv[0]);
  }
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      group_(other.group_),
      hidden_peak_kb_(other.hidden_peak_kb_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    if (running()) {
      Kill(SIGKILL);
      Wait();
    }
    pid_ = std::exchange(other.pid_, -1);
    group_ = other.group_;
    hidden_peak_kb_ = other.hidden_peak_kb_;
  }
  return *this;
}

ChildProcess::~ChildProcess() {
  if (!running()) return;
  Kill(SIGKILL);
  Wait();
}

std::optional<ExitStatus> ChildProcess::Poll() {
  if (!running() || !IsEnded(pid_, WNOHANG)) return std::nullopt;
  return Reap();
}

ExitStatus ChildProcess::Wait() {
  GALLEY_CHECK(running());
  IsEnded(pid_, 0);
  return Reap();
}

// REQUIRES: it has ended.
ExitStatus ChildProcess::Reap() {
  int status = 0;
  rusage usage{};
  Children& children = AllChildren();
  base::MutexLock lock(children.mutex);
  if (group_)
    ::kill(-pid_,
           SIGKILL);  // what it left behind; before it is reaped, as that frees the group's number
  while (::wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  children.held.erase(pid_);
  pid_ = -1;
  if (usage.ru_maxrss <= hidden_peak_kb_) usage.ru_maxrss = 0;
  return Decode(status, usage);
}

std::optional<ExitStatus> ChildProcess::WaitFor(absl::Duration timeout) {
  if (!running()) return std::nullopt;
  FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (handle.valid()) {
    pollfd event{handle.get(), POLLIN, 0};
    const int64_t milliseconds =
        std::clamp<int64_t>(absl::ToInt64Milliseconds(timeout), 0, 1 << 30);
    ::poll(&event, 1, static_cast<int>(milliseconds));
  }
  return Poll();
}

void ChildProcess::Kill(int signal) {
  if (!running()) return;
  if (group_) ::kill(-pid_, signal);
  ::kill(pid_, signal);
}

void AdoptOrphans() {
  Children& children = AllChildren();
  base::MutexLock lock(children.mutex);
  if (std::exchange(children.adopts, true)) return;
  for (const pid_t child : ChildrenOf(::getpid())) children.held.insert(child);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void KillOrphans() {
  Children& children = AllChildren();
  base::MutexLock lock(children.mutex);
  if (!children.adopts) return;
  for (int round = 0; round < kOrphanRoundsMax; ++round) {
    bool has_orphans = false;
    bool has_reaped = false;
    for (const pid_t child : ChildrenOf(::getpid())) {
      if (children.held.contains(child)) continue;
      has_orphans = true;
      ::kill(child, SIGKILL);
      if (::waitpid(child, nullptr, WNOHANG) == child) has_reaped = true;
    }
    if (!has_orphans) return;
    if (!has_reaped) ::usleep(kOrphanRoundUs);
  }
}

void TerminateChildren() {
  Children& children = AllChildren();
  base::MutexLock lock(children.mutex);
  for (const pid_t child : children.held) ::kill(-child, SIGTERM);
}

uint64_t ResidentBytesBelow(pid_t pid) {
  uint64_t sum = 0;
  for (const pid_t process : ProcessesBelow(pid)) sum += ResidentBytes(process);
  return sum;
}

ProcessorUse ProcessorUseOf(pid_t pid) {
  std::vector<pid_t> processes = ProcessesBelow(pid);
  processes.push_back(pid);
  ProcessorUse use;
  for (const pid_t process : processes) {
    const ProcessStat stat = StatOf(fmt::format("/proc/{}/stat", process));
    use.time += stat.time;
    if (stat.state == 'X' || stat.state == 'Z') continue;
    use.below += process != pid;
    use.wants_more = use.wants_more || HasThreadThatWantsMore(process);
  }
  return use;
}

// A supervisor calls this at its every look: it makes no more calls than it needs.
bool IsRunning(pid_t pid) {
  if (::kill(pid, 0) != 0 && errno == ESRCH) return false;
  const absl::StatusOr<std::string> stat = ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.ok()) return ::kill(pid, 0) == 0 || errno != ESRCH;
  const size_t name_end = stat->rfind(") ");  // a name may have spaces and brackets
  return name_end == std::string::npos || (*stat)[name_end + 2] != 'Z';
}

bool IsStopped(pid_t pid) {
  const char state = StatOf(fmt::format("/proc/{}/stat", pid)).state;
  return state == 'T' || state == 't';
}

uint64_t ResidentBytes(pid_t pid) {
  char name[32];
  std::snprintf(name, sizeof(name), "/proc/%d/statm", static_cast<int>(pid));
  const FileDescriptor file(::open(name, O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return 0;
  char line[128];
  const ssize_t size = ::read(file.get(), line, sizeof(line));
  if (size <= 0) return 0;
  const char* const end = line + size;
  uint64_t total = 0;
  const auto [after, error] = std::from_chars(line, end, total);
  uint64_t resident = 0;
  if (error != std::errc() || after == end ||
      std::from_chars(after + 1, end, resident).ec != std::errc())
    return 0;
  static const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return resident * page_bytes;
}

}  // namespace galley
