#include "worker/walls/call_watch.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "common/base/own_program.h"
#include "common/base/read_pieces.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

// Newer than Debian 12's headers.
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

namespace galley::worker {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr uint32_t kOtherAbi = 0x40000000;  // x32: the same architecture, with this bit in numbers
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr uint32_t kOtherAbi = 0xFFFFFFFF;
#else
#error "Which system calls are there, and under which name does audit know this architecture?"
#endif

// Of threads that may have ended since their last call made something.
constexpr size_t kMakingMax = 256;
constexpr int kLinksMax = 40;   // path_resolution(7)
constexpr int kScriptsMax = 5;  // scripts that are run by scripts; execve(2)
constexpr size_t kScriptLineMax = 256;
// Calls from this one on are newer than what this code knows (statmount, 6.8).
constexpr uint32_t kUnknownCalls = 457;

// Not noted: what differs from process to process or from machine to machine, whatever is the same
// on them, and what programs ask for to find the files that are noted themselves.
constexpr std::string_view kNotNoted[] = {"/proc/", "/sys/", "/dev/", "/selinux",
                                          "/etc/ld.so.cache"};
// (C libraries ask this server for users and hosts, if it is there.)
constexpr std::string_view kNameServers[] = {"/var/run/nscd/socket", "/run/nscd/socket"};
constexpr std::string_view kTemporary[] = {"/tmp", "/var/tmp"};
// Opened by the kernel itself where programs are linked to libraries.
#if defined(__x86_64__)
constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";
#else
constexpr const char* kLoader = "/lib/ld-linux-aarch64.so.1";
#endif

enum class What : uint8_t {
  kLook,
  kOpen,
  kOpenByStruct,
  kRun,
  kReadLink,
  kMake,          // something new
  kChange,        // something that is there
  kChangeOpened,  // of a descriptor
  kTellPlace,     // getcwd
  kTalk,          // to a socket, by its address
  kRefuse,
};

// Which arguments of a call say what. -1: none.
struct Watched {
  uint32_t number = 0;
  const char* name = "";
  What what = What::kLook;
  int8_t path = 0;
  int8_t folder = -1;  // a descriptor to which the path is relative
  // Of open (none: those of creat), of kTalk the size of the address; else AT_SYMLINK_NOFOLLOW and
  // the like.
  int8_t flags = -1;
  bool follows = true;      // a link at the path's end, unless `flags` say otherwise
  int8_t second_path = -1;  // that changes, too
  int8_t second_folder = -1;
  int error = EROFS;        // of a change
  int8_t if_argument = -1;  // only with this one
};

#define GALLEY_CALL(call) static_cast<uint32_t>(SYS_##call), #call
constexpr Watched kWatched[] = {
    {GALLEY_CALL(openat), What::kOpen, 1, 0, 2},
    {GALLEY_CALL(openat2), What::kOpenByStruct, 1, 0, 2},
    {GALLEY_CALL(newfstatat), What::kLook, 1, 0, 3},
    {GALLEY_CALL(statx), What::kLook, 1, 0, 2},
    {GALLEY_CALL(faccessat), What::kLook, 1, 0},
    {GALLEY_CALL(faccessat2), What::kLook, 1, 0, 3},
    {GALLEY_CALL(readlinkat), What::kReadLink, 1, 0, -1, false},
    {GALLEY_CALL(statfs), What::kLook, 0},
    {GALLEY_CALL(chdir), What::kLook, 0},
    {GALLEY_CALL(getxattr), What::kLook, 0},
    {GALLEY_CALL(lgetxattr), What::kLook, 0, -1, -1, false},
    {GALLEY_CALL(listxattr), What::kLook, 0},
    {GALLEY_CALL(llistxattr), What::kLook, 0, -1, -1, false},
    {GALLEY_CALL(inotify_add_watch), What::kLook, 1},
    {GALLEY_CALL(execve), What::kRun, 0},
    {GALLEY_CALL(execveat), What::kRun, 1, 0, 4},
    {GALLEY_CALL(truncate), What::kChange, 0},
    {GALLEY_CALL(mkdirat), What::kMake, 1, 0, -1, false},
    {GALLEY_CALL(mknodat), What::kMake, 1, 0, -1, false},
    {GALLEY_CALL(unlinkat), What::kChange, 1, 0, -1, false},
    {GALLEY_CALL(symlinkat), What::kMake, 2, 1, -1, false},
    {GALLEY_CALL(linkat), What::kChange, 1, 0, 4, false, 3, 2, EXDEV},
    {GALLEY_CALL(renameat2), What::kChange, 1, 0, -1, false, 3, 2},
    {GALLEY_CALL(fchmodat), What::kChange, 1, 0},
    {GALLEY_CALL(fchownat), What::kChange, 1, 0, 4},
    {GALLEY_CALL(utimensat), What::kChange, 1, 0, 3},
    {GALLEY_CALL(setxattr), What::kChange, 0},
    {GALLEY_CALL(lsetxattr), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(removexattr), What::kChange, 0},
    {GALLEY_CALL(lremovexattr), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(fchmod), What::kChangeOpened, -1, 0},
    {GALLEY_CALL(fchown), What::kChangeOpened, -1, 0},
    {GALLEY_CALL(fsetxattr), What::kChangeOpened, -1, 0},
    {GALLEY_CALL(fremovexattr), What::kChangeOpened, -1, 0},
    {GALLEY_CALL(getcwd), What::kTellPlace, -1},
    {GALLEY_CALL(bind), What::kTalk, 1, -1, 2},
    {GALLEY_CALL(connect), What::kTalk, 1, -1, 2},
    {GALLEY_CALL(sendto), What::kTalk, 4, -1, 5, true, -1, -1, 0, 4},
    {GALLEY_CALL(sendmsg), What::kTalk, 1},
    {GALLEY_CALL(sendmmsg), What::kRefuse},
    {GALLEY_CALL(chroot), What::kRefuse},
    {GALLEY_CALL(pivot_root), What::kRefuse},
    {GALLEY_CALL(mount), What::kRefuse},
    {GALLEY_CALL(umount2), What::kRefuse},
    {GALLEY_CALL(setns), What::kRefuse},
    {GALLEY_CALL(open_by_handle_at), What::kRefuse},
    {GALLEY_CALL(open_tree), What::kRefuse},
    {GALLEY_CALL(move_mount), What::kRefuse},
    {GALLEY_CALL(fsopen), What::kRefuse},
    {GALLEY_CALL(fspick), What::kRefuse},
    {GALLEY_CALL(fsmount), What::kRefuse},
#ifdef SYS_renameat
    {GALLEY_CALL(renameat), What::kChange, 1, 0, -1, false, 3, 2},
#endif
// What other architectures never had.
#ifdef SYS_open
    {GALLEY_CALL(open), What::kOpen, 0, -1, 1},
    {GALLEY_CALL(creat), What::kOpen, 0},
    {GALLEY_CALL(stat), What::kLook, 0},
    {GALLEY_CALL(lstat), What::kLook, 0, -1, -1, false},
    {GALLEY_CALL(access), What::kLook, 0},
    {GALLEY_CALL(readlink), What::kReadLink, 0, -1, -1, false},
    {GALLEY_CALL(mkdir), What::kMake, 0, -1, -1, false},
    {GALLEY_CALL(mknod), What::kMake, 0, -1, -1, false},
    {GALLEY_CALL(rmdir), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(unlink), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(symlink), What::kMake, 1, -1, -1, false},
    {GALLEY_CALL(link), What::kChange, 0, -1, -1, false, 1, -1, EXDEV},
    {GALLEY_CALL(rename), What::kChange, 0, -1, -1, false, 1},
    {GALLEY_CALL(chmod), What::kChange, 0},
    {GALLEY_CALL(chown), What::kChange, 0},
    {GALLEY_CALL(lchown), What::kChange, 0, -1, -1, false},
    {GALLEY_CALL(utime), What::kChange, 0},
    {GALLEY_CALL(utimes), What::kChange, 0},
    {GALLEY_CALL(futimesat), What::kChange, 1, 0},
#endif
};
// With this flag in the first argument they make a view of their own of what is mounted.
constexpr uint32_t kWithNamespaces[] = {SYS_clone, SYS_unshare};
// Programs do without them on older kernels. (What io_uring does, no filter sees; the flags of
// clone3 lie in memory, where no filter reads.)
constexpr uint32_t kMissing[] = {SYS_io_uring_setup, SYS_clone3, 452 /* fchmodat2 */};
// They change a file by its descriptor: FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY.
constexpr uint32_t kChangingIoctls[] = {0x40086602, 0x401c5820, 0x40806685};
constexpr Watched kIoctl = {GALLEY_CALL(ioctl), What::kChangeOpened, -1, 0};

#undef GALLEY_CALL

const Watched* WatchedOf(uint32_t number) {
  if (number == kIoctl.number) return &kIoctl;
  const auto* const end = std::end(kWatched);
  const auto* const found = std::find_if(std::begin(kWatched), end,
                                         [&](const Watched& one) { return one.number == number; });
  return found == end ? nullptr : found;
}

std::vector<char> Filter() {
  std::vector<sock_filter> code;
  const auto load = [&](size_t offset) {
    code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset)));
  };
  const auto answer = [&](uint32_t action) { code.push_back(BPF_STMT(BPF_RET | BPF_K, action)); };
  const auto if_equal = [&](uint32_t value, uint32_t action) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
    answer(action);
  };
  load(offsetof(seccomp_data, arch));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
  answer(SECCOMP_RET_USER_NOTIF);
  load(offsetof(seccomp_data, nr));
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kOtherAbi, 0, 1));
  answer(SECCOMP_RET_USER_NOTIF);
  const auto load_half = [&](size_t argument, size_t half) {  // little endian: 0 is the lower one
    load(offsetof(seccomp_data, args) + argument * sizeof(uint64_t) + half * sizeof(uint32_t));
  };
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kUnknownCalls, 0, 1));
  answer(SECCOMP_RET_ERRNO | ENOSYS);
  for (const Watched& call : kWatched) {
    if (call.if_argument < 0) {
      if_equal(call.number, SECCOMP_RET_USER_NOTIF);
      continue;
    }
    const auto argument = static_cast<size_t>(call.if_argument);
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call.number, 0, 7));
    for (const size_t half : {0u, 1u}) {
      load_half(argument, half);
      code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
      answer(SECCOMP_RET_USER_NOTIF);
    }
    answer(SECCOMP_RET_ALLOW);
  }
  for (const uint32_t number : kMissing) if_equal(number, SECCOMP_RET_ERRNO | ENOSYS);
  code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kIoctl.number, 0,
                          static_cast<uint8_t>(2 * std::size(kChangingIoctls) + 2)));
  load_half(1, 0);
  for (const uint32_t command : kChangingIoctls) if_equal(command, SECCOMP_RET_USER_NOTIF);
  answer(SECCOMP_RET_ALLOW);
  for (const uint32_t number : kWithNamespaces) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4));
    load_half(0, 0);
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWNS, 0, 1));
    answer(SECCOMP_RET_USER_NOTIF);
    answer(SECCOMP_RET_ALLOW);
  }
  answer(SECCOMP_RET_ALLOW);
  std::vector<char> bytes(code.size() * sizeof(sock_filter));
  std::memcpy(bytes.data(), code.data(), bytes.size());
  return bytes;
}

// The string at that address of the process. ENAMETOOLONG and EFAULT are the call's own to find.
absl::StatusOr<std::optional<std::string>> ReadText(pid_t process, uint64_t address) {
  static const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  std::string text;
  if (address == 0) return std::optional<std::string>();
  while (text.size() < PATH_MAX) {
    std::array<char, PATH_MAX> piece;
    const size_t wanted = std::min<uint64_t>(piece.size(), page_bytes - address % page_bytes);
    const iovec ours{.iov_base = piece.data(), .iov_len = wanted};
    const iovec theirs{.iov_base = reinterpret_cast<void*>(address),  // NOLINT: of the process
                       .iov_len = wanted};
    const ssize_t count = ::process_vm_readv(process, &ours, 1, &theirs, 1, 0);
    if (count < 0 && (errno == EFAULT || errno == ESRCH)) return std::optional<std::string>();
    if (count <= 0)
      return ErrnoStatus(errno, "read the memory of process", std::to_string(process));
    const std::string_view read(piece.data(), static_cast<size_t>(count));
    const size_t end = read.find('\0');
    text += read.substr(0, end);
    if (end != std::string_view::npos) return std::optional(std::move(text));
    address += read.size();
  }
  return std::optional<std::string>();
}

std::optional<std::string> LinkAt(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t count = ::readlink(path.c_str(), target.data(), target.size());
  if (count < 0) return std::nullopt;
  return std::string(target.data(), static_cast<size_t>(count));
}

bool IsThere(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

bool IsBelow(std::string_view path, std::string_view folder) {
  return !folder.empty() && path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

// Bytes of the process; false: they are not there.
bool ReadMemory(pid_t process, uint64_t address, void* bytes, size_t size) {
  const iovec ours{.iov_base = bytes, .iov_len = size};
  const iovec theirs{.iov_base = reinterpret_cast<void*>(address), .iov_len = size};  // NOLINT
  return ::process_vm_readv(process, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(size);
}

absl::StatusOr<bool> HoldsText(const std::string& file, const std::string& text) {
  if (text.empty()) return false;
  std::string held;  // the end of what came before
  bool has_it = false;
  RETURN_IF_ERROR(ReadInPieces(file, [&](std::string_view piece) {
    held += piece.substr(0, text.size());
    has_it = has_it || held.find(text) != std::string::npos ||
             piece.find(text) != std::string_view::npos;
    held += piece.substr(std::min(piece.size(), text.size()));
    if (held.size() >= text.size()) held.erase(0, held.size() - text.size() + 1);
    return absl::OkStatus();
  }));
  return has_it;
}

Looks::Found FoundOf(uint32_t mode) {
  if (S_ISREG(mode)) return Looks::Found::kFile;
  return S_ISDIR(mode) ? Looks::Found::kFolder : Looks::Found::kOther;
}

}  // namespace

struct CallWatch::Call {
  uint64_t id = 0;
  const Watched* watched = nullptr;  // null: of another ABI, or one of kWithNamespaces
  pid_t process = 0;
  uint64_t arguments[6] = {};

  uint64_t At(int8_t argument) const { return arguments[static_cast<size_t>(argument)]; }
};

// Where a path leads.
struct CallWatch::Place {
  std::string path;  // without links, as far as it is there; empty: nowhere of ours
  bool exists = false;
  bool is_empty = false;  // the path is ""
  uint32_t mode = 0;
  std::string absent;              // the first on the way that is not there
  std::vector<std::string> links;  // that led there, elsewhere
};

CallWatch::CallWatch(WatchedProgram program) : program_(std::move(program)), filter_(Filter()) {
  seccomp_notif_sizes sizes{};
  if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) sizes = {};
  request_.resize(std::max<size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)));
  response_.resize(std::max<size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp)));
}

CallWatch::~CallWatch() = default;

int CallWatch::BeginInChild() const {
  const sock_fprog program{
      .len = static_cast<unsigned short>(filter_.size() / sizeof(sock_filter)),
      .filter = reinterpret_cast<sock_filter*>(const_cast<char*>(filter_.data()))};  // NOLINT
  // (Else a signal, as Go's runtime sends them all the time, would begin the call anew each time.)
  long calls = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                         SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                         &program);
  if (calls < 0 && errno == EINVAL)  // before 5.19
    calls =
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  return calls < 0 ? -errno : static_cast<int>(calls);
}

void CallWatch::Take(FileDescriptor calls) {
  calls_ = std::move(calls);
  trouble_ = absl::OkStatus();
  // From 6.6 on: who waits is woken up on the same processor, which is much quicker.
  ::ioctl(calls_.get(), SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

bool CallWatch::IsOurs(std::string_view path) const {
  return IsBelow(path, program_.folder->root());
}

// What nobody may change.
bool CallWatch::IsGuarded(std::string_view path) const {
  return IsOurs(path) || IsBelow(path, program_.tools);
}

bool CallWatch::IsOwn(std::string_view path) {
  if (IsBelow(path, program_.own)) return true;
  // (A call of another thread may be about to end.)
  for (auto at = making_.begin(); at != making_.end();) {
    const auto making = at++;
    if (!IsBelow(path, making->second) || !IsThere(making->second)) continue;
    made_.insert(std::move(making->second));
    making_.erase(making);
  }
  for (; path.size() > 1 && !made_.empty(); path = path.substr(0, path.rfind('/'))) {
    if (made_.contains(path)) return true;
  }
  return false;
}

// It is about to make this.
void CallWatch::Makes(const Call& call, const Place& place) {
  if (place.exists || place.path.empty() || IsOwn(place.path) || made_.size() >= Looks::kMax)
    return;
  making_.insert_or_assign(call.process, place.path);
  if (making_.size() <= kMakingMax) return;
  for (auto at = making_.begin(); at != making_.end();) {
    const auto making = at++;
    if (::access(fmt::format("/proc/{}", making->first).c_str(), F_OK) != 0) EndMaking(making);
  }
}

// The call has ended.
void CallWatch::EndMaking(std::map<pid_t, std::string>::iterator making) {
  std::string path = std::move(making->second);
  making_.erase(making);
  if (IsThere(path)) {
    made_.insert(std::move(path));
  } else {
    NoteOne(path, Looks::Found::kAbsent, false);
  }
}

const Looks& CallWatch::looks() {
  while (!making_.empty()) EndMaking(making_.begin());
  return looks_;
}

void CallWatch::Note(const Place& place, bool is_opened) {
  Looks::Found found = place.exists ? FoundOf(place.mode) : Looks::Found::kAbsent;
  struct stat led_to {};
  if (place.exists && S_ISLNK(place.mode))
    found =
        ::stat(place.path.c_str(), &led_to) == 0 ? FoundOf(led_to.st_mode) : Looks::Found::kAbsent;
  const std::string& path = place.exists ? place.path : place.absent;
  if (!path.empty()) NoteOne(path, found, is_opened);
  for (const std::string& link : place.links) NoteOne(link, found, false);
}

void CallWatch::NoteOne(const std::string& path, Looks::Found found, bool is_opened) {
  if (IsOwn(path)) return;
  // (That it is there is known of what is ours.)
  if (IsOurs(path) && found != Looks::Found::kAbsent && !is_opened) return;
  if (std::any_of(std::begin(kNotNoted), std::end(kNotNoted),
                  [&](std::string_view one) { return path.starts_with(one); }))
    return;
  // Everybody has these folders, or they lead to where the program runs.
  const bool is_everywhere =
      path.find('/', 1) == std::string::npos || IsBelow(program_.own, path) ||
      IsBelow(program_.folder->root(), path) || IsBelow(program_.tools, path) ||
      std::find(std::begin(kTemporary), std::end(kTemporary), path) != std::end(kTemporary);
  if (found == Looks::Found::kFolder && is_everywhere && !is_opened) return;
  if (looks_.found.size() >= Looks::kMax && !looks_.found.contains(path)) {
    if (trouble_.ok())
      trouble_ = absl::FailedPreconditionError(
          fmt::format("its program looks at more than {} files", Looks::kMax));
    return;
  }
  looks_.found.try_emplace(path, found);
  if (is_opened) looks_.opened.insert(path);
}

void CallWatch::Serve() {
  pollfd event{.fd = calls_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&event, 1, 0) != 1) return;
  if ((event.revents & POLLIN) == 0) {
    if ((event.revents & (POLLERR | POLLNVAL)) != 0 && trouble_.ok())
      trouble_ = absl::UnavailableError("the calls of a program cannot be seen any more");
    if ((event.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) calls_.Reset();  // all have ended
    return;
  }
  auto& request = *reinterpret_cast<seccomp_notif*>(request_.data());  // NOLINT: of its size
  std::fill(request_.begin(), request_.end(), 0);
  if (::ioctl(calls_.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;  // it was killed
  Call call{.id = request.id, .process = static_cast<pid_t>(request.pid)};
  const auto number = static_cast<uint32_t>(request.data.nr);
  if (request.data.arch == kArchitecture && number < kOtherAbi) call.watched = WatchedOf(number);
  std::copy(std::begin(request.data.args), std::end(request.data.args), call.arguments);
  if (const auto before = making_.find(call.process); before != making_.end()) EndMaking(before);
  const int error = Answer(call);
  auto& response = *reinterpret_cast<seccomp_notif_resp*>(response_.data());  // NOLINT: likewise
  std::fill(response_.begin(), response_.end(), 0);
  response.id = request.id;
  response.error = -error;
  if (error == 0) response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  // (It may have been killed meanwhile, or begin the call again.)
  if (::ioctl(calls_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) != 0) making_.erase(call.process);
}

// False: the caller is gone, and its number may be another process's: what was read there under its
// number counts for nothing. Asked after that was read, and before it is used.
bool CallWatch::Waits(const Call& call) const {
  return ::ioctl(calls_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) == 0;
}

// The error that the call is answered with; 0: it goes on.
int CallWatch::Answer(const Call& call) {
  if (!trouble_.ok()) return EIO;
  if (call.watched == nullptr)
    return Refuse(call, "makes mounts of its own, or is of another kind of processor");
  switch (call.watched->what) {
    case What::kLook:
      return Look(call);
    case What::kReadLink:
      return ReadLink(call);
    case What::kOpen:
    case What::kOpenByStruct:
      return Open(call);
    case What::kRun:
      return Run(call);
    case What::kMake:
    case What::kChange:
      return Change(call);
    case What::kChangeOpened:
      return ChangeOpened(call);
    case What::kTellPlace:
      return TellPlace(call);
    case What::kTalk:
      return Talk(call);
    case What::kRefuse:
      return Refuse(call, fmt::format("calls {}", call.watched->name));
  }
  return 0;
}

int CallWatch::Fail(const Call& call, absl::Status status) {
  if (Waits(call)) trouble_ = std::move(status);
  return EIO;
}

int CallWatch::Refuse(const Call& call, std::string_view what) {
  return Fail(call, absl::FailedPreconditionError(fmt::format(
                        "a program that it started {}: what comes of that may be another thing on "
                        "a machine without the project",
                        what)));
}

int CallWatch::Look(const Call& call) {
  const Watched& watched = *call.watched;
  const bool follows =
      watched.flags >= 0 ? (call.At(watched.flags) & AT_SYMLINK_NOFOLLOW) == 0 : watched.follows;
  const auto place = Walk(call, static_cast<size_t>(watched.path), watched.folder, follows);
  if (!place.ok()) return Fail(call, place.status());
  Note(*place, false);
  return 0;
}

// A link to what is ours says where that is, which is another place on each machine.
int CallWatch::ReadLink(const Call& call) {
  const Watched& watched = *call.watched;
  const auto place = Walk(call, static_cast<size_t>(watched.path), watched.folder, false);
  if (!place.ok()) return Fail(call, place.status());
  if (place->exists && S_ISLNK(place->mode)) {
    const std::string target = LinkAt(place->path).value_or("");
    if (target.starts_with('/') && IsGuarded(Known(target)))
      return Refuse(call, "asks where the files of the project are (readlink)");
  }
  Note(*place, false);
  return 0;
}

int CallWatch::TellPlace(const Call& call) {
  const std::optional<std::string> place = LinkAt(fmt::format("/proc/{}/cwd", call.process));
  if (!place.has_value() || !IsGuarded(Known(*place))) return 0;
  return Refuse(call, "asks where the files of the project are (getcwd)");
}

int CallWatch::Open(const Call& call) {
  const Watched& watched = *call.watched;
  uint64_t flags = watched.flags < 0 ? O_CREAT | O_WRONLY | O_TRUNC : call.At(watched.flags);
  if (watched.what == What::kOpenByStruct) {
    std::array<uint64_t, 3> how;  // open_how: flags, mode, resolve
    if (!ReadMemory(call.process, call.At(watched.flags), how.data(), sizeof(how))) return 0;
    flags = how[0];
    // (Where paths lead then, we do not know.)
    if (how[2] != 0) return Refuse(call, "calls openat2 with rules of its own for paths");
  }
  const bool creates = (flags & O_CREAT) != 0;
  const bool writes =
      (flags & O_PATH) == 0 && ((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC) != 0);
  const bool follows =
      (flags & O_NOFOLLOW) == 0 && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
  const auto place = Walk(call, static_cast<size_t>(watched.path), watched.folder, follows);
  if (!place.ok()) return Fail(call, place.status());
  if (!IsGuarded(place->path)) {
    if (creates && !place->exists && place->absent == place->path) {
      Makes(call, *place);
    } else if ((flags & O_TMPFILE) != O_TMPFILE) {
      Note(*place, (flags & O_PATH) == 0);
    }
    return 0;
  }
  if (!place->exists) {
    if (creates) return EROFS;
    Note(*place, false);
    return 0;
  }
  if (creates && (flags & O_EXCL) != 0) return 0;  // the kernel says that it is there already
  const bool makes_nameless = (flags & O_TMPFILE) == O_TMPFILE;
  if (writes) return S_ISDIR(place->mode) && !makes_nameless ? 0 : EROFS;  // (else it says EISDIR)
  if ((flags & O_PATH) == 0 && (S_ISDIR(place->mode) || !IsOurs(place->path))) Note(*place, true);
  if ((flags & (O_PATH | O_DIRECTORY)) != 0 || !S_ISREG(place->mode)) return 0;
  if (!IsOurs(place->path)) return 0;
  const absl::Status filled = program_.folder->FillFile(place->path);
  return filled.ok() ? 0 : Fail(call, filled);
}

int CallWatch::Run(const Call& call) {
  const Watched& watched = *call.watched;
  const auto place = Walk(call, static_cast<size_t>(watched.path), watched.folder, true);
  if (!place.ok()) return Fail(call, place.status());
  const absl::Status filled = FillInterpreters(call, *place, 0);
  return filled.ok() ? 0 : Fail(call, filled);
}

// The kernel opens the program, and what a script names in its first line, by itself.
absl::Status CallWatch::FillInterpreters(const Call& call, const Place& program, int depth) {
  Note(program, !IsOurs(program.path));
  if (!program.exists || !S_ISREG(program.mode) || depth == kScriptsMax) return absl::OkStatus();
  if (IsOurs(program.path)) RETURN_IF_ERROR(program_.folder->FillFile(program.path));
  const FileDescriptor file(::open(program.path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, kScriptLineMax> head;
  const ssize_t count = file.valid() ? ::read(file.get(), head.data(), head.size()) : 0;
  const std::string_view text(head.data(), count > 0 ? static_cast<size_t>(count) : 0);
  if (!text.starts_with("#!")) {
    ASSIGN_OR_RETURN(const Place loader, WalkFrom(call, "", kLoader, true));
    Note(loader, true);
    return absl::OkStatus();
  }
  std::istringstream line{std::string(text.substr(2, text.find('\n') - 2))};
  std::string interpreter;
  line >> interpreter;
  ASSIGN_OR_RETURN(const Place place, WalkFrom(call, "", interpreter, true));
  return FillInterpreters(call, place, depth + 1);
}

int CallWatch::Change(const Call& call) {
  const Watched& watched = *call.watched;
  const bool is_link = watched.error == EXDEV;
  const uint64_t flags = watched.flags >= 0 ? call.At(watched.flags) : 0;
  const bool follows = is_link              ? (flags & AT_SYMLINK_FOLLOW) != 0
                       : watched.flags >= 0 ? (flags & AT_SYMLINK_NOFOLLOW) == 0
                                            : watched.follows;
  // (No path at all: utimensat of a descriptor.)
  if (call.At(watched.path) == 0 && watched.folder >= 0) return ChangeOpened(call);
  const auto first = Walk(call, static_cast<size_t>(watched.path), watched.folder, follows);
  if (!first.ok()) return Fail(call, first.status());
  if (first->is_empty && (flags & AT_EMPTY_PATH) != 0) {
    const int error = ChangeOpened(call);
    if (error != 0) return is_link ? EXDEV : error;
  }
  // What is not there, or is there already, the kernel says by itself.
  const bool is_it = first->exists == (watched.what == What::kChange);
  if (IsGuarded(first->path) && !first->is_empty && is_it) return watched.error;
  if (watched.what == What::kMake && !first->exists && first->absent == first->path) {
    Makes(call, *first);
  } else {
    Note(*first, is_link);
  }
  if (watched.second_path < 0) return 0;
  const auto second =
      Walk(call, static_cast<size_t>(watched.second_path), watched.second_folder, false);
  if (!second.ok()) return Fail(call, second.status());
  if (IsGuarded(second->path)) return EROFS;
  if (!second->exists && second->absent == second->path) {
    Makes(call, *second);
  } else {
    Note(*second, false);
  }
  return 0;
}

int CallWatch::ChangeOpened(const Call& call) {
  const auto descriptor = static_cast<int>(call.At(call.watched->folder));
  const std::optional<std::string> place =
      LinkAt(fmt::format("/proc/{}/fd/{}", call.process, descriptor));
  return place.has_value() && place->starts_with('/') && IsGuarded(Known(*place)) && Waits(call)
             ? EROFS
             : 0;
}

// Programs may talk to those that they started, through sockets that they made.
int CallWatch::Talk(const Call& call) {
  const Watched& watched = *call.watched;
  if (watched.flags >= 0) return TalkTo(call, call.At(watched.path), call.At(watched.flags));
  msghdr message{};
  if (!ReadMemory(call.process, call.At(watched.path), &message, sizeof(message))) return 0;
  return TalkTo(call, reinterpret_cast<uint64_t>(message.msg_name), message.msg_namelen);  // NOLINT
}

int CallWatch::TalkTo(const Call& call, uint64_t address, uint64_t size_bytes) {
  sockaddr_un to{};
  const size_t size = std::min<uint64_t>(size_bytes, sizeof(to));
  if (address == 0 || size < sizeof(to.sun_family) ||
      !ReadMemory(call.process, address, &to, size) || !Waits(call))
    return 0;
  const bool makes = call.watched->number == static_cast<uint32_t>(SYS_bind);
  const bool is_of_machine = to.sun_family == AF_UNSPEC || to.sun_family == AF_NETLINK;
  if (is_of_machine || (makes && to.sun_family != AF_UNIX)) return 0;
  constexpr std::string_view kTalks = "talks to a server, which may be another one, or none, here";
  if (to.sun_family != AF_UNIX) return Refuse(call, kTalks);
  const std::string_view name(to.sun_path, size - offsetof(sockaddr_un, sun_path));
  if (name.empty()) return 0;  // a name of the kernel's choice
  if (name.front() == '\0') {
    if (makes) servers_.emplace(name);
    return makes || servers_.contains(name) ? 0 : Refuse(call, kTalks);
  }
  const std::string path(name.substr(0, name.find('\0')));
  if (std::find(std::begin(kNameServers), std::end(kNameServers), path) != std::end(kNameServers))
    return ENOENT;
  const auto place = WalkFrom(call, "", path, true);
  if (!place.ok()) return Fail(call, place.status());
  if (makes) {
    if (IsGuarded(place->path) && !place->exists) return EROFS;
    Makes(call, *place);
    return 0;
  }
  if (place->exists && !IsOwn(place->path)) return Refuse(call, kTalks);
  Note(*place, false);
  return 0;
}

absl::Status CallWatch::CheckWritten(const std::string& folder) const {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_symlink(error) || !at->is_regular_file(error)) continue;
    const std::string path = at->path().string();
    for (const std::string& place : {program_.folder->root(), program_.tools}) {
      ASSIGN_OR_RETURN(const bool has_it, HoldsText(path, place));
      if (has_it)
        return absl::FailedPreconditionError(
            fmt::format("its program writes where its files are ({}) into {}", place,
                        path.substr(std::min(folder.size() + 1, path.size()))));
    }
  }
  return error ? ErrnoStatus(error.value(), "list", folder) : absl::OkStatus();
}

// The path by which we know it: it may lie in the folder, and have been reached by another way.
std::string CallWatch::Known(std::string path) const {
  struct stat info {};
  if (IsOurs(path) || ::lstat(path.c_str(), &info) != 0) return path;
  std::string ours = program_.folder->PathOf(info.st_dev, info.st_ino);
  return ours.empty() ? path : ours;
}

absl::StatusOr<CallWatch::Place> CallWatch::Walk(const Call& call, size_t path_argument,
                                                 int folder_argument, bool follows_last) {
  ASSIGN_OR_RETURN(std::optional<std::string> path,
                   ReadText(call.process, call.arguments[path_argument]));
  if (!path.has_value()) return Place{};
  std::string folder;
  const auto descriptor =
      folder_argument < 0 ? AT_FDCWD
                          : static_cast<int>(call.arguments[static_cast<size_t>(folder_argument)]);
  if (descriptor != AT_FDCWD) {
    if (descriptor < 0) return Place{};
    folder = fmt::format("/proc/{}/fd/{}", call.process, descriptor);
  }
  // "" with AT_EMPTY_PATH: what is open already. It counts when it is run, for it may have been
  // opened as a place only.
  if (path->empty() && folder.empty()) return Place{.is_empty = true};
  if (path->empty() && call.watched->what != What::kRun) return Place{.is_empty = true};
  ASSIGN_OR_RETURN(Place place, WalkFrom(call, std::move(folder), *std::move(path), follows_last));
  return Waits(call) ? place : Place{};
}

// `folder`: a link to where a relative path begins; empty: the working directory.
absl::StatusOr<CallWatch::Place> CallWatch::WalkFrom(const Call& call, std::string folder,
                                                     std::string path, bool follows_last) {
  std::string at = "/";
  if (!path.starts_with('/')) {
    if (folder.empty()) folder = fmt::format("/proc/{}/cwd", call.process);
    const std::optional<std::string> begin = LinkAt(folder);
    // (A pipe, or something that was deleted.)
    if (!begin.has_value() || !begin->starts_with('/')) return Place{};
    at = Known(*begin);
    if (path.empty()) {
      struct stat info {};
      const bool exists = ::lstat(at.c_str(), &info) == 0;
      return Place{.path = at, .exists = exists, .is_empty = true, .mode = info.st_mode};
    }
  }
  struct stat info {};
  info.st_mode = S_IFDIR;
  int links = 0;
  std::vector<std::string> led;
  while (true) {
    const size_t begin = path.find_first_not_of('/');
    if (begin == std::string::npos) break;
    const size_t end = std::min(path.find('/', begin), path.size());
    std::string name = path.substr(begin, end - begin);
    const bool has_slash = end < path.size();
    path.erase(0, end);
    const bool is_last = path.find_first_not_of('/') == std::string::npos;
    if (name == ".") continue;
    if (name == "..") {
      at.erase(std::max<size_t>(at.rfind('/'), 1));
      info.st_mode = S_IFDIR;
      continue;
    }
    if (IsOurs(at)) RETURN_IF_ERROR(program_.folder->FillFolder(at));
    // Of the caller's, not ours.
    if (at == "/proc" && (name == "self" || name == "thread-self"))
      name = std::to_string(call.process);
    std::string next = JoinPath(at, name);
    if (::lstat(next.c_str(), &info) != 0)
      return Place{.path = is_last ? next : "", .absent = next, .links = std::move(led)};
    if (!IsOurs(next)) {
      if (std::string ours = program_.folder->PathOf(info.st_dev, info.st_ino); !ours.empty())
        next = std::move(ours);
    }
    if (S_ISLNK(info.st_mode) && (!is_last || follows_last || has_slash)) {
      const std::optional<std::string> target = LinkAt(next);
      if (!target.has_value() || ++links > kLinksMax) return Place{};
      // (What a descriptor leads to may be a pipe: "pipe:[123]".)
      if (at.starts_with("/proc/") && !target->starts_with('/') &&
          target->find(":[") != std::string::npos)
        return Place{};
      if (is_last && !IsOurs(next)) led.push_back(next);
      path = fmt::format("{}{}{}", *target, path.empty() ? "" : "/", path);
      if (target->starts_with('/')) at.assign(1, '/');  // (g++ 12 warns of = "/", GCC bug 105651)
      info.st_mode = S_IFDIR;
      continue;
    }
    at = std::move(next);
  }
  if (IsOurs(at) && S_ISDIR(info.st_mode)) RETURN_IF_ERROR(program_.folder->FillFolder(at));
  return Place{
      .path = std::move(at), .exists = true, .mode = info.st_mode, .links = std::move(led)};
}

namespace {

// Notes that it was asked for its file.
class ProbeFolder final : public ReadyFolder {
 public:
  explicit ProbeFolder(std::string root) : root_(std::move(root)) {}
  const std::string& root() const override { return root_; }
  absl::Status FillFolder(const std::string&) override { return absl::OkStatus(); }
  absl::Status FillFile(const std::string&) override {
    is_asked = true;
    return absl::OkStatus();
  }
  std::string PathOf(uint64_t, uint64_t) const override { return ""; }
  bool is_asked = false;

 private:
  const std::string root_;
};

// A program is run, which is in the folder: this one, or the loader that runs it.
absl::Status Probe() {
  ChildOptions options{.argv = CommandOf(OwnProgram())};
  ProbeFolder folder(options.argv[0].substr(0, options.argv[0].rfind('/')));
  CallWatch watch({.folder = &folder});
  options.watch = &watch;
  options.argv.emplace_back("--version");
  absl::StatusOr<ChildProcess> child = ChildProcess::Start(options);
  RETURN_IF_ERROR(child.status());
  child->Kill(SIGKILL);
  child->Wait();
  RETURN_IF_ERROR(watch.trouble());
  if (!folder.is_asked) return absl::UnavailableError("the calls of a program were not seen");
  return absl::OkStatus();
}

}  // namespace

absl::Status CanWatchCalls() {
  static const absl::Status& can = *new absl::Status(
      Annotate(Probe(), "the calls of programs cannot be watched (seccomp user notification)"));
  return can;
}

}  // namespace galley::worker
