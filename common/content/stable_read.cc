#include "common/content/stable_read.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::content {
namespace {

constexpr size_t kPieceBytes = 256 << 10;

absl::Status OpenError(const FileEntry& entry, int reason) {
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENXIO:  // a socket in its place
      return StaleError(entry.host_path, std::strerror(reason));
    case EACCES:
    case EPERM:
    case ENAMETOOLONG:
      return FailedPreconditionError("{} cannot be read: {}", entry.host_path,
                                     std::strerror(reason));
    default:
      return ErrnoStatus(reason, "open", entry.host_path);
  }
}

absl::Status CheckStat(int fd, const FileEntry& entry) {
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(fd, entry.host_path));
  if (stat == entry.stat) return absl::OkStatus();
  return StaleError(entry.host_path, stat.size_bytes == entry.stat.size_bytes
                                         ? std::string("its times or its inode are others")
                                         : fmt::format("its size was {}, now {}",
                                                       entry.stat.size_bytes, stat.size_bytes));
}

}  // namespace

absl::Status StaleError(std::string_view host_path, std::string_view why) {
  return AbortedError("{} changed since it was scanned: {}", host_path, why);
}

absl::Status StableRead(const FileEntry& entry, const std::function<void(std::string_view)>& take,
                        const Cancellation* stop) {
  // O_NONBLOCK: a FIFO in the file's place must not hang us.
  const FileDescriptor file(::open(entry.host_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return OpenError(entry, errno);
  RETURN_IF_ERROR(CheckStat(file.get(), entry));
  std::vector<char> piece(std::min<uint64_t>(kPieceBytes, entry.stat.size_bytes + 1));
  uint64_t size_bytes = 0;
  while (true) {
    if (stop != nullptr && stop->is_cancelled())
      return CancelledError("{} is not read to its end", entry.host_path);
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", entry.host_path);
    if (count == 0) break;
    size_bytes += static_cast<uint64_t>(count);
    if (size_bytes > entry.stat.size_bytes) return StaleError(entry.host_path, "it grows");
    take({piece.data(), static_cast<size_t>(count)});
    // There was room for more, so that this is the end: it need not be asked for.
    if (size_bytes == entry.stat.size_bytes && static_cast<size_t>(count) < piece.size()) break;
  }
  if (size_bytes != entry.stat.size_bytes) return StaleError(entry.host_path, "it shrank");
  return CheckStat(file.get(), entry);
}

}  // namespace galley::content
