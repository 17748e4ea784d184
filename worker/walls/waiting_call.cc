#include "worker/walls/waiting_call.h"

#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"

namespace galley::worker {

bool WaitingCall::Waits() const {
  return ::ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

absl::StatusOr<std::optional<std::string>> WaitingCall::ReadText(uint64_t address) const {
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

bool WaitingCall::ReadMemory(uint64_t address, void* bytes, size_t size) const {
  const iovec ours{.iov_base = bytes, .iov_len = size};
  const iovec theirs{.iov_base = reinterpret_cast<void*>(address), .iov_len = size};  // NOLINT
  return ::process_vm_readv(process, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(size);
}

absl::Status CannotBeWatched(std::string_view what) {
  return FailedPreconditionError(
      "a program that it started {}: what comes of that may be another thing on a machine without "
      "the project",
      what);
}

}  // namespace galley::worker
