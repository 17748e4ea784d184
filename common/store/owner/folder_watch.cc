#include "common/store/owner/folder_watch.h"

#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"

namespace galley::store {
namespace {

std::string LockOf(const std::string& directory) { return JoinPath(directory, "lock"); }

// Errors other than absence (a disk that fails) are for whoever reads or writes there.
absl::Status CheckIsStill(const std::string& path, const FileStat& opened,
                          const std::string& directory) {
  const absl::StatusOr<FileStat> now = StatFile(path);
  if (!now.ok() && !absl::IsNotFound(now.status())) return absl::OkStatus();
  if (now.ok() && now->inode == opened.inode && now->device == opened.device)
    return absl::OkStatus();
  return FailedPreconditionError(
      "{} was {} while the store in {} was in use: what was stored there is gone, and nothing can "
      "be; start again, which uses the store that is there then",
      path, now.ok() ? "replaced" : "deleted", directory);
}

}  // namespace

absl::StatusOr<FolderWatch> FolderWatch::Begin(const std::string& directory) {
  ASSIGN_OR_RETURN(const FileStat folder, StatFile(directory));
  ASSIGN_OR_RETURN(const FileStat lock, StatFile(LockOf(directory)));
  return FolderWatch(directory, folder, lock);
}

absl::Status FolderWatch::CheckFolder() const {
  return CheckIsStill(directory_, folder_, directory_);
}

absl::Status FolderWatch::CheckFolderAndLock() const {
  RETURN_IF_ERROR(CheckFolder());
  return CheckIsStill(LockOf(directory_), lock_, directory_);
}

}  // namespace galley::store
