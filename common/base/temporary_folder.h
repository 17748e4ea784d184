// TemporaryFolder: a folder that goes with its owner, also when that is killed: the next one of the
// same kind removes what a dead one left.
//
// An owner holds a lock on its folder, which the kernel gives back when the owner's process ends;
// a folder of our user and of the same prefix that can be locked has no owner. Where the file
// system has no such locks, a folder goes with an owner that ends by itself only, and nobody
// removes those of others: a warning says so.
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
  // <parent>/<prefix>XXXXXX. `prefix` must be of nobody else's folders: theirs would be removed.
  // `lock`: another one for tests.
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
  FileDescriptor lock_;  // invalid: the file system has none
};

}  // namespace galley
