// TemporaryFolder: a folder that is removed with its owner. If the owner is killed, the next Make
// with the same prefix removes the folder.
//
// The owner holds a flock on its folder, which the kernel releases when the owner's process ends. A
// folder of our user with the prefix has no owner if its lock is free. On a file system without
// such locks, only the owner's destructor removes the folder; a warning says so.
#pragma once

#include <sys/file.h>

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley {

class TemporaryFolder {
 public:
  using LockFunction = int (*)(int, int);
  // Makes <parent>/<prefix>XXXXXX. Nobody else may use `prefix` in `parent`: such folders would be
  // removed. `lock`: for tests.
  static absl::StatusOr<TemporaryFolder> Make(const std::string& parent, std::string_view prefix,
                                              LockFunction lock = ::flock);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& from) noexcept
      : path_(std::exchange(from.path_, {})), lock_(std::move(from.lock_)) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  const std::string& path() const { return path_; }

 private:
  TemporaryFolder(std::string path, FileDescriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;     // empty: moved from
  FileDescriptor lock_;  // invalid: the file system has no locks
};

}  // namespace galley
