// FolderWatch: detects that a store's folder was deleted or replaced since it was opened. A process
// can go on in a deleted folder, but everything that it writes there is lost.
//
// Threads: any. Cost of a check: a stat or two.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley::store {

class FolderWatch {
 public:
  // Watches the store in `directory`. REQUIRES: the store is open.
  static absl::StatusOr<FolderWatch> Begin(const std::string& directory);

  // FAILED_PRECONDITION: the folder was deleted, or another folder has its path.
  absl::Status CheckFolder() const;
  // Like CheckFolder, and FAILED_PRECONDITION also if the store's file `lock` was deleted: then
  // another process may believe that nobody owns the store.
  absl::Status CheckFolderAndLock() const;

 private:
  FolderWatch(std::string directory, const FileStat& folder, const FileStat& lock)
      : directory_(std::move(directory)), folder_(folder), lock_(lock) {}

  std::string directory_;
  FileStat folder_, lock_;
};

}  // namespace galley::store
