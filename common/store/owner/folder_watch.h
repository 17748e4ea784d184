// FolderWatch: whether a store's folder is still the one that was opened. A process goes on to work
// in a folder that was deleted, and what it writes there is gone with it.
//
// Threads: any. Cost of a look: a stat or two.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley::store {

class FolderWatch {
 public:
  // The store in `directory`, which is open now.
  static absl::StatusOr<FolderWatch> Begin(const std::string& directory);

  // FAILED_PRECONDITION: the folder was deleted, or another stands in its place.
  absl::Status CheckFolder() const;
  // Fails as CheckFolder does, and also when the store's file `lock` was deleted: then another
  // process may take the store for nobody's.
  absl::Status CheckFolderAndLock() const;

 private:
  FolderWatch(std::string directory, const FileStat& folder, const FileStat& lock)
      : directory_(std::move(directory)), folder_(folder), lock_(lock) {}

  std::string directory_;
  FileStat folder_, lock_;
};

}  // namespace galley::store
