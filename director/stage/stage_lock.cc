#include "director/stage/stage_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);

bool IsAt(const FileDescriptor& folder, const std::string& directory) {
  const auto held = StatDescriptor(folder.get(), directory);
  const auto present = StatFile(directory);
  return held.ok() && present.ok() && held->inode == present->inode &&
         held->device == present->device;
}

}  // namespace

absl::StatusOr<FileDescriptor> LockSandbox(const std::string& directory,
                                           const std::function<bool()>& may_wait) {
  while (true) {
    RETURN_IF_ERROR(CreateDirectories(directory));
    FileDescriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.valid()) return ErrnoStatus(errno, "open folder", directory);
    while (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) {  // (NFS locks no folders.)
        LogWarning("stage: {} cannot be locked: {}", directory, std::strerror(errno));
        return folder;
      }
      if (!may_wait()) {
        return absl::CancelledError(
            fmt::format("{}: interrupted while another process stages there", directory));
      }
      std::this_thread::sleep_for(kPause);
    }
    if (IsAt(folder, directory)) return folder;  // else somebody put another in its place
  }
}

}  // namespace galley::director
