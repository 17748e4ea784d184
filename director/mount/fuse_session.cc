#include "director/mount/fuse_session.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "fmt/format.h"

namespace galley::mount {
namespace {

constexpr unsigned kThreadsMin = 2, kThreadsMax = 8;

// The last line that libfuse wrote, which says more than its return values. libfuse has one
// function for all sessions.
std::mutex said_mutex;
std::string said;  // guarded by said_mutex

void NoteSaid(fuse_log_level, const char* format, va_list arguments) {
  char line[1024];
  std::vsnprintf(line, sizeof line, format, arguments);
  std::string text(line);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  LogDebug("libfuse: {}", text);
  const std::lock_guard lock(said_mutex);
  said = std::move(text);
}

// Says why mounting does not work here, and what to do.
std::string WhyNoMount() {
  std::string why;
  {
    const std::lock_guard lock(said_mutex);
    why = said;
  }
  struct stat device {};
  if (::stat("/dev/fuse", &device) != 0)
    return fmt::format(
        "{}; /dev/fuse is not there: load the kernel's module (modprobe fuse), or give "
        "the container the device (--device /dev/fuse)",
        why);
  if (::geteuid() != 0 && ::access("/dev/fuse", R_OK | W_OK) != 0)
    return fmt::format(
        "{}; /dev/fuse has the mode {:04o}, so that only its owner may mount: mount as "
        "root",
        why, device.st_mode & 07777);
  if (::geteuid() != 0)
    return fmt::format(
        "{}; users other than root need the program fusermount3 (Debian's package "
        "fuse3)",
        why);
  return fmt::format("{}; in a container, mounting needs the capability SYS_ADMIN", why);
}

}  // namespace

absl::StatusOr<std::unique_ptr<FuseSession>> FuseSession::Begin(const Options& options,
                                                                MountRequests& requests) {
  fuse_set_log_func(&NoteSaid);
  std::string settings =
      fmt::format("ro,nosuid,nodev,default_permissions,max_read={},subtype=galley,fsname={}{}",
                  1 << 20, options.name, options.is_for_all_users ? ",allow_other" : "");
  std::string program = "galley", flag = "-o";
  char* argv[] = {program.data(), flag.data(), settings.data(), nullptr};
  fuse_args arguments = FUSE_ARGS_INIT(3, argv);
  const fuse_lowlevel_ops operations = MountRequests::Operations();
  fuse_session* const session =
      fuse_session_new(&arguments, &operations, sizeof operations, &requests);
  fuse_opt_free_args(&arguments);
  if (session == nullptr) return UnavailableError("libfuse does not begin: {}", WhyNoMount());
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid() || fuse_session_mount(session, options.folder.c_str()) != 0) {
    fuse_session_destroy(session);
    return UnavailableError("{} cannot be mounted: {}", options.folder, WhyNoMount());
  }
  // So that a thread which another one was faster than does not wait there, and sees Stop.
  const int descriptor = fuse_session_fd(session);
  ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return std::unique_ptr<FuseSession>(new FuseSession(session, std::move(wake)));
}

FuseSession::~FuseSession() {
  fuse_session_unmount(session_);
  fuse_session_destroy(session_);
}

void FuseSession::Stop() {
  const uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

void FuseSession::NoteFault(int error) {
  fault_ = error;
  Stop();
}

absl::Status FuseSession::Serve() {
  const unsigned count = std::clamp(std::thread::hardware_concurrency(), kThreadsMin, kThreadsMax);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) threads.emplace_back([this] { TakeRequests(); });
  for (std::thread& thread : threads) thread.join();
  if (fault_ == 0) return absl::OkStatus();
  return UnavailableError("the mount takes no requests: {}", std::strerror(fault_));
}

void FuseSession::TakeRequests() {
  const FileDescriptor both(::epoll_create1(EPOLL_CLOEXEC));
  // A request wakes one thread alone, and the end all of them.
  epoll_event request{.events = EPOLLIN | EPOLLEXCLUSIVE,
                      .data = {.fd = fuse_session_fd(session_)}};
  epoll_event end{.events = EPOLLIN, .data = {.fd = wake_.get()}};
  if (::epoll_ctl(both.get(), EPOLL_CTL_ADD, request.data.fd, &request) != 0 ||
      ::epoll_ctl(both.get(), EPOLL_CTL_ADD, end.data.fd, &end) != 0) {
    return NoteFault(errno);
  }
  fuse_buf buffer{};
  while (!fuse_session_exited(session_)) {
    epoll_event ready[2];
    const int count = ::epoll_wait(both.get(), ready, 2, -1);
    if (count < 0 && errno != EINTR) {
      NoteFault(errno);
      break;
    }
    if (std::any_of(ready, ready + std::max(count, 0),
                    [&](const epoll_event& one) { return one.data.fd == wake_.get(); }))
      break;
    // Until there is none, as others may not be woken for those that came together.
    while (true) {
      const int size = fuse_session_receive_buf(session_, &buffer);
      if (size == -EINTR) continue;
      if (size <= 0) {
        if (size < 0 && size != -EAGAIN) NoteFault(-size);
        if (size == 0) Stop();  // it was unmounted
        break;
      }
      fuse_session_process_buf(session_, &buffer);
    }
  }
  std::free(buffer.mem);
  Stop();
}

}  // namespace galley::mount
