#include "common/base/file_head.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"

namespace galley {

absl::StatusOr<std::string> ReadFileHead(const std::string& path, size_t bytes_max) {
  // O_NONBLOCK: opening a FIFO must not hang.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file.get(), path));
  if (!S_ISREG(stat.mode)) return FailedPreconditionError("{} is not a regular file", path);
  std::string bytes(std::min<uint64_t>(stat.size_bytes, bytes_max), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", path);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace galley
