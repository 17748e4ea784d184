#include "worker/walls/program_walls.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "common/base/errors.h"
#include "common/base/real_path.h"
#include "common/base/status_macros.h"
#include "common/base/temporary_folder.h"
#include "fmt/format.h"
#include "worker/walls/mount_table.h"

namespace galley::worker {
namespace {

constexpr uint64_t kMapBytesMax = 64 << 10;

// The steps by which a process of its own, the builder, makes a program's view.
enum class Step : int {
  kUserNamespace,
  kMapIds,  // our step: the builder waits for it
  kMountNamespace,
  kPrivate,
  kCopy,
  kReadOnly,
  kMount,
  kBuilt,
};

struct Told {
  Step step = Step::kBuilt;
  int failure = 0;  // errno
  size_t path = 0;  // the index of the failed path in the plan
};

struct Plan {
  bool has_user_namespace = true;
  std::vector<std::string> read_only;
  std::string writable;
  int told = -1, go_on = -1;  // the builder's ends of two pipes
};

// Older headers lack the names of these calls.
int OpenTree(const char* path) {
  return static_cast<int>(
      ::syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
}

int SetReadOnly(int tree, const char* path) {
  struct mount_attr attributes {};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  return static_cast<int>(::syscall(SYS_mount_setattr, tree, path, AT_EMPTY_PATH | AT_RECURSIVE,
                                    &attributes, sizeof(attributes)));
}

int MoveMount(int tree, const char* path) {
  return static_cast<int>(
      ::syscall(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH));
}

[[noreturn]] void Tell(const Plan& plan, Step step, int failure, size_t path = 0) {
  const Told told{.step = step, .failure = failure, .path = path};
  [[maybe_unused]] const ssize_t written = ::write(plan.told, &told, sizeof(told));
  while (failure == 0) ::pause();  // until other processes hold the builder's namespaces
  ::_exit(1);
}

// A program that cannot reach the folder cannot change it.
bool IsOutOfReach(int failure) {
  return failure == ENOENT || failure == ENOTDIR || failure == EACCES || failure == ELOOP;
}

void MakeReadOnly(const Plan& plan, size_t index) {
  const char* const path = plan.read_only[index].c_str();
  // The root in which we stand cannot be mounted over.
  if (plan.read_only[index] == "/") {
    if (SetReadOnly(AT_FDCWD, path) != 0) Tell(plan, Step::kReadOnly, errno, index);
    return;
  }
  const int tree = OpenTree(path);
  if (tree < 0 && IsOutOfReach(errno)) return;
  if (tree < 0) Tell(plan, Step::kCopy, errno, index);
  if (SetReadOnly(tree, "") != 0) Tell(plan, Step::kReadOnly, errno, index);
  if (MoveMount(tree, path) != 0) Tell(plan, Step::kMount, errno, index);
  ::close(tree);
}

// Runs in a process that was forked from a process that may have threads: makes only system calls.
[[noreturn]] void RunBuilder(const Plan& plan, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  if (plan.has_user_namespace) {
    if (::unshare(CLONE_NEWUSER) != 0) Tell(plan, Step::kUserNamespace, errno);
    const Told told{.step = Step::kMapIds};
    char byte = 0;
    if (::write(plan.told, &told, sizeof(told)) != sizeof(told) ||
        ::read(plan.go_on, &byte, 1) != 1)
      ::_exit(1);
  }
  if (::unshare(CLONE_NEWNS) != 0) Tell(plan, Step::kMountNamespace, errno);
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    Tell(plan, Step::kPrivate, errno);
  const size_t writable = plan.read_only.size();
  int kept = -1;
  if (!plan.writable.empty()) {
    kept = OpenTree(plan.writable.c_str());
    if (kept < 0) Tell(plan, Step::kCopy, errno, writable);
  }
  for (size_t i = 0; i < plan.read_only.size(); ++i) MakeReadOnly(plan, i);
  if (kept >= 0 && MoveMount(kept, plan.writable.c_str()) != 0)
    Tell(plan, Step::kMount, errno, writable);
  Tell(plan, Step::kBuilt, 0);
}

// Rights by which a program could change its view, or reach another view. Within a user namespace
// of its own, a program has the other rights only there.
constexpr std::array kInNamespace = {CAP_SYS_ADMIN};
constexpr std::array kOutside = {
    CAP_SYS_ADMIN, CAP_SYS_PTRACE,        CAP_DAC_READ_SEARCH, CAP_MKNOD,
    CAP_SYS_RAWIO, CAP_SYS_MODULE,        CAP_SYS_BOOT,        CAP_BPF,
    CAP_PERFMON,   CAP_CHECKPOINT_RESTORE};

template <size_t kCount>
int DropRights(const std::array<int, kCount>& rights) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct held[2] = {};
  if (::syscall(SYS_capget, &header, held) != 0) return errno;
  for (const int right : rights) {
    // An older kernel does not know the newest rights.
    if (::prctl(PR_CAPBSET_DROP, right, 0, 0, 0) != 0 && errno != EINVAL) return errno;
    const uint32_t bit = uint32_t{1} << (right % 32);
    __user_cap_data_struct& half = held[right / 32];
    half.effective &= ~bit;
    half.permitted &= ~bit;
    half.inheritable &= ~bit;
  }
  return ::syscall(SYS_capset, &header, held) == 0 ? 0 : errno;
}

// Maps each number of our own namespace to itself, in lines of "inside outside count". `own_map`:
// the lines as this process reads them; the result: the lines to write for a namespace below.
std::string SameIds(const std::string& own_map) {
  std::string map;
  std::istringstream numbers(own_map);
  for (std::string inside, outside, count; numbers >> inside >> outside >> count;)
    map += fmt::format("{} {} {}\n", inside, inside, count);
  return map;
}

// Writes in a single call: the kernel takes a map as a whole.
bool WriteOnce(const std::string& path, std::string_view text) {
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file.valid() &&
         ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Maps all numbers that exist here; where that is refused, only our own numbers, which an ordinary
// user may map.
bool MapIds(pid_t builder) {
  const std::string process = fmt::format("/proc/{}/", builder);
  const auto all_of = [](const char* own_map) {
    return SameIds(ReadFile(own_map, kMapBytesMax).value_or(""));
  };
  if (!WriteOnce(process + "uid_map", all_of("/proc/self/uid_map")) &&
      !WriteOnce(process + "uid_map", fmt::format("{0} {0} 1\n", ::geteuid())))
    return false;
  if (WriteOnce(process + "gid_map", all_of("/proc/self/gid_map"))) return true;
  // A process that may not map all groups must first give up setgroups.
  return WriteOnce(process + "setgroups", "deny") &&
         WriteOnce(process + "gid_map", fmt::format("{0} {0} 1\n", ::getegid()));
}

absl::Status StatusOf(const Plan& plan, const Told& told) {
  const std::string path =
      told.path < plan.read_only.size() ? plan.read_only[told.path] : plan.writable;
  std::string what;
  switch (told.step) {
    case Step::kUserNamespace:
      what = "make a user namespace";
      break;
    case Step::kMapIds:
      what = "write the user and group numbers of a user namespace";
      break;
    case Step::kMountNamespace:
      what = "make a mount namespace";
      break;
    case Step::kPrivate:
      what = "part its mounts from the machine's";
      break;
    case Step::kCopy:
      what = fmt::format("mount {} a second time", path);
      break;
    case Step::kReadOnly:
      what = fmt::format("make the mount of {} read-only (mount_setattr)", path);
      break;
    case Step::kMount:
      what = fmt::format("mount over {}", path);
      break;
    case Step::kBuilt:
      what = "hold the namespaces";
      break;
  }
  return UnavailableError("this process may not {}: {}", what, ::strerror(told.failure));
}

// The builder's process; the destructor ends and reaps it.
class Builder {
 public:
  explicit Builder(pid_t pid) : pid_(pid) {}
  ~Builder() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  pid_t pid() const { return pid_; }
  bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == pid_;
  }
  FileDescriptor Namespace(const char* name) const {
    return FileDescriptor(
        ::open(fmt::format("/proc/{}/ns/{}", pid_, name).c_str(), O_RDONLY | O_CLOEXEC));
  }

 private:
  const pid_t pid_;
};

// False: the builder has ended without a message.
bool Hear(int from, Told& told) {
  ssize_t count = 0;
  do {
    count = ::read(from, &told, sizeof(told));
  } while (count < 0 && errno == EINTR);
  return count == sizeof(told);
}

struct Namespaces {
  FileDescriptor user, mounts;
};

// ABORTED: somebody has ended the builder.
absl::StatusOr<Namespaces> BuildOnce(Plan plan) {
  int told_pipe[2], go_pipe[2];
  if (::pipe2(told_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for", "namespaces");
  const FileDescriptor hear(told_pipe[0]);
  FileDescriptor tell(told_pipe[1]);
  if (::pipe2(go_pipe, O_CLOEXEC) != 0) return ErrnoStatus(errno, "pipe for", "namespaces");
  FileDescriptor wait(go_pipe[0]);
  const FileDescriptor go(go_pipe[1]);
  plan.told = tell.get();
  plan.go_on = wait.get();
  const pid_t parent = ::getpid();
  const Builder builder(::fork());
  if (builder.pid() == 0) RunBuilder(plan, parent);
  if (builder.pid() < 0) return ErrnoStatus(errno, "fork for", "namespaces");
  tell.Reset();
  wait.Reset();
  Told told;
  const absl::Status silent = absl::AbortedError("the process that makes namespaces was ended");
  if (!Hear(hear.get(), told)) return silent;
  if (told.step == Step::kMapIds) {
    if (!MapIds(builder.pid())) {
      const int failure = errno;
      return builder.has_ended() ? silent
                                 : StatusOf(plan, {.step = Step::kMapIds, .failure = failure});
    }
    if (::write(go.get(), "g", 1) != 1 || !Hear(hear.get(), told)) return silent;
  }
  if (told.failure != 0) return StatusOf(plan, told);
  Namespaces made;
  if (plan.has_user_namespace) made.user = builder.Namespace("user");
  made.mounts = builder.Namespace("mnt");
  const int failure = errno;
  if (made.mounts.valid() && made.user.valid() == plan.has_user_namespace) return made;
  return builder.has_ended() ? silent : StatusOf(plan, {.step = Step::kBuilt, .failure = failure});
}

// A builder that is killed, as where no memory is left, says nothing of what is possible here.
absl::StatusOr<Namespaces> BuildBy(const Plan& plan) {
  constexpr int kTriesMax = 5;
  for (int tries = 1;; ++tries) {
    absl::StatusOr<Namespaces> made = BuildOnce(plan);
    if (made.ok() || !absl::IsAborted(made.status()) || tries == kTriesMax) return made;
  }
}

bool IsSame(const std::string& one, const std::string& other) {
  struct stat a {
  }, b{};
  return ::stat(one.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

std::vector<std::string> PathsOf(const std::vector<std::string>& folders) {
  std::vector<std::string> real;
  for (const std::string& folder : folders) {
    if (!folder.empty()) real.push_back(RealPath(folder));
  }
  return PathsTo(real, ReadMountTable(), IsSame);
}

constexpr const char* kTriesToWrite = "(echo > x) 2>/dev/null || echo > inner/y";

// Runs a program within walls, which tries to write where it must not.
absl::Status ProbeWalls() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  ASSIGN_OR_RETURN(const TemporaryFolder folder,
                   TemporaryFolder::Make(error ? "/tmp" : parent.string(), "galley-walls-"));
  const std::string inner = JoinPath(folder.path(), "inner");
  RETURN_IF_ERROR(CreateDirectories(inner));
  ASSIGN_OR_RETURN(const auto walls,
                   ProgramWalls::Build({.read_only = {folder.path()}, .writable = inner}));
  ChildOptions options;
  options.argv = {"/bin/sh", "-c", kTriesToWrite};
  options.working_directory = folder.path();
  options.walls = walls.get();
  ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start(options));
  const ExitStatus ended = child.Wait();
  if (ended.ok() && !FileExists(JoinPath(folder.path(), "x"))) return absl::OkStatus();
  return absl::UnavailableError("a folder that was made read-only for a program could be written");
}

constexpr std::string_view kAdvice =
    "let the user of Galley make user and mount namespaces: sysctl user.max_user_namespaces above "
    "0, kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0 or an "
    "AppArmor profile with `userns,` for galley-worker; in a container --cap-add SYS_ADMIN with "
    "root, or a seccomp profile that allows unshare and mount; Linux 5.12 or newer";

}  // namespace

absl::StatusOr<std::unique_ptr<ProgramWalls>> ProgramWalls::Build(const Options& options) {
  Plan plan{.read_only = PathsOf(options.read_only),
            .writable = options.writable.empty() ? "" : RealPath(options.writable)};
  absl::StatusOr<Namespaces> made = BuildBy(plan);
  if (!made.ok() && ::geteuid() == 0) {
    plan.has_user_namespace = false;
    auto without = BuildBy(plan);
    if (without.ok()) made = std::move(without);
  }
  if (!made.ok()) return made.status();
  return std::unique_ptr<ProgramWalls>(
      new ProgramWalls(std::move(made->user), std::move(made->mounts)));
}

int ProgramWalls::EnterInChild() const {
  if (user_.valid() && ::setns(user_.get(), CLONE_NEWUSER) != 0) return errno;
  if (::setns(mounts_.get(), CLONE_NEWNS) != 0) return errno;
  return user_.valid() ? DropRights(kInNamespace) : DropRights(kOutside);
}

absl::Status CanBuildWalls() {
  static const absl::Status& can = *new absl::Status([]() -> absl::Status {
    const absl::Status probed = ProbeWalls();
    if (probed.ok()) return probed;
    return UnavailableError("{}; {}", MessageOf(probed), kAdvice);
  }());
  return can;
}

}  // namespace galley::worker
