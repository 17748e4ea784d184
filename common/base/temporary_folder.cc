#include "common/base/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "common/base/folder_names.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"

namespace galley {
namespace {

constexpr int kTriesMax = 100;  // somebody may remove our folder before it is locked

// Invalid: another one holds it, it is not ours, or it is gone. UNIMPLEMENTED: the file system has
// no such locks.
absl::StatusOr<FileDescriptor> Lock(const std::string& path, TemporaryFolder::LockFunction lock) {
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat opened {};
  if (!folder.valid() || ::fstat(folder.get(), &opened) != 0 || opened.st_uid != ::geteuid())
    return FileDescriptor();
  if (lock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK || errno == EINTR) return FileDescriptor();
    return absl::UnimplementedError(MessageOf(ErrnoStatus(errno, "flock", path)));
  }
  // Still the same: whoever had it may have removed it meanwhile.
  struct stat present {};
  if (::lstat(path.c_str(), &present) != 0 || present.st_ino != opened.st_ino ||
      present.st_dev != opened.st_dev)
    return FileDescriptor();
  return folder;
}

void RemoveDead(const std::string& parent, std::string_view prefix,
                TemporaryFolder::LockFunction lock_function) {
  for (const std::string& name : NamesIn(parent)) {
    if (!name.starts_with(prefix)) continue;
    const std::string path = JoinPath(parent, name);
    const absl::StatusOr<FileDescriptor> lock = Lock(path, lock_function);
    if (!lock.ok() || !lock->valid()) continue;
    if (const absl::Status status = RemoveAll(path); !status.ok())
      LogWarning("temporary folder: {}", MessageOf(status));
  }
}

}  // namespace

absl::StatusOr<TemporaryFolder> TemporaryFolder::Make(const std::string& parent,
                                                      std::string_view prefix,
                                                      LockFunction lock_function) {
  RemoveDead(parent, prefix, lock_function);
  for (int i = 0; i < kTriesMax; ++i) {
    ASSIGN_OR_RETURN(std::string path, MakeTemporaryDirectory(parent, prefix));
    absl::StatusOr<FileDescriptor> lock = Lock(path, lock_function);
    if (!lock.ok()) {
      LogWarning(
          "temporary folder: {}: the file system has no locks on folders (some NFS have none); "
          "{} must be removed by hand if this process is killed",
          MessageOf(lock.status()), path);
      return TemporaryFolder(std::move(path), FileDescriptor());
    }
    if (lock->valid()) return TemporaryFolder(std::move(path), *std::move(lock));
  }
  return absl::UnavailableError("no folder in " + parent + " can be locked");
}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty()) return;
  if (const absl::Status status = RemoveAll(path_); !status.ok())
    LogWarning("temporary folder: {}", MessageOf(status));
}

}  // namespace galley
