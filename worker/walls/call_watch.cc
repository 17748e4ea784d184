#include "worker/walls/call_watch.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "fmt/format.h"
#include "worker/walls/call_filter.h"
#include "worker/walls/watched_calls.h"

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

CallWatch::CallWatch(WatchedProgram program) : program_(std::move(program)), filter_(CallFilter()) {
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
  // Without this flag every signal would begin the call anew, and Go's runtime sends signals all
  // the time.
  long calls = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                         SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                         &program);
  if (calls < 0 && errno == EINVAL)  // the kernel is older than 5.19
    calls =
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  return calls < 0 ? -errno : static_cast<int>(calls);
}

void CallWatch::Take(FileDescriptor calls) {
  calls_ = std::move(calls);
  trouble_ = absl::OkStatus();
  looks_.Forgive();
  // From kernel 6.6 on the waiting thread is woken up on the same processor, which is much quicker.
  ::ioctl(calls_.get(), SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

void CallWatch::Serve() {
  pollfd event{.fd = calls_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&event, 1, 0) != 1) return;
  if ((event.revents & POLLIN) == 0) {
    if ((event.revents & (POLLERR | POLLNVAL)) != 0 && !has_failed())
      trouble_ = absl::UnavailableError("the calls of a program cannot be seen any more");
    // On these events all watched processes have ended.
    if ((event.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) calls_.Reset();
    return;
  }
  auto& request = *reinterpret_cast<seccomp_notif*>(request_.data());  // the buffer has its size
  std::ranges::fill(request_, 0);
  // An error means that the caller was killed.
  if (::ioctl(calls_.get(), SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;
  WaitingCall call{
      .listener = calls_.get(),
      .id = request.id,
      .watched = FindWatchedCall(request.data.arch, static_cast<uint32_t>(request.data.nr)),
      .process = static_cast<pid_t>(request.pid)};
  std::copy(std::begin(request.data.args), std::end(request.data.args), call.arguments);
  looks_.EndCallOf(call.process);
  const int error = ErrorFor(call);
  auto& response = *reinterpret_cast<seccomp_notif_resp*>(response_.data());  // NOLINT: likewise
  std::ranges::fill(response_, 0);
  response.id = request.id;
  response.error = -error;
  if (error == 0) response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  // The caller may have been killed meanwhile, or may begin the call again.
  if (::ioctl(calls_.get(), SECCOMP_IOCTL_NOTIF_SEND, &response) != 0)
    looks_.DropCallOf(call.process);
}

// The error for the answer to the call; 0: the call goes on.
int CallWatch::ErrorFor(const WaitingCall& call) {
  if (has_failed()) return EIO;
  const CallAnswer answer = Answer(call);
  if (answer.ok()) return *answer;
  if (call.Waits()) trouble_ = answer.status();
  return EIO;
}

CallAnswer CallWatch::Answer(const WaitingCall& call) {
  using What = WatchedCall::What;
  if (call.watched == nullptr)
    return CannotBeWatched("makes mounts of its own, or is of another kind of processor");
  switch (call.watched->what) {
    case What::kLook:
      return files_.Look(call);
    case What::kReadLink:
      return files_.ReadLink(call);
    case What::kOpen:
    case What::kOpenByStruct:
      return files_.Open(call);
    case What::kRun:
      return files_.Run(call);
    case What::kMake:
    case What::kChange:
      return files_.Change(call);
    case What::kChangeOpened:
      return files_.ChangeOpened(call);
    case What::kTellPlace:
      return files_.TellPlace(call);
    case What::kTalk:
      return sockets_.Talk(call);
    case What::kRefuse:
      return CannotBeWatched(fmt::format("calls {}", call.watched->name));
  }
  return 0;
}

absl::Status CallWatch::CheckWritten(const std::string& folder) const {
  return worker::CheckWritten(program_, folder);
}

}  // namespace galley::worker
