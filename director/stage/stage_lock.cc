#include "director/stage/stage_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "common/base/errors.h"
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

absl::Status Wait(const std::string& directory, const std::function<bool()>& may_wait) {
  if (!may_wait()) {
    return CancelledError("{}: interrupted while another process stages there", directory);
  }
  std::this_thread::sleep_for(kPause);
  return absl::OkStatus();
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
      if (errno != EWOULDBLOCK) {  // NFS locks no folders
        LogWarning("stage: {} cannot be locked: {}", directory, std::strerror(errno));
        return folder;
      }
      RETURN_IF_ERROR(Wait(directory, may_wait));
    }
    if (IsAt(folder, directory)) return folder;
    // Somebody put another folder in its place; on an odd file system it may look so for ever.
    RETURN_IF_ERROR(Wait(directory, may_wait));
  }
}

std::optional<pid_t> LockHolder(const std::string& directory) {
  const auto folder = StatFile(directory);
  if (!folder.ok()) return std::nullopt;
  const std::string place =
      fmt::format("{:02x}:{:02x}:{}", major(folder->device), minor(folder->device), folder->inode);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    // "1: FLOCK  ADVISORY  WRITE 4711 fe:00:9986175 0 EOF"; a process that waits has "->" after the
    // number. A process that is not seen from here has a number below 1.
    std::istringstream words(line);
    std::string number, type, mode, access, where;
    pid_t pid = 0;
    words >> number >> type >> mode >> access >> pid >> where;
    if (words && type == "FLOCK" && where == place && pid > 0) return pid;
  }
  return std::nullopt;
}

}  // namespace galley::director
