// TemporaryFolder: a folder that goes with its owner, also when that is killed: the next one of the
// same kind removes what a dead one left.
//
// An owner holds a lock on its folder, which the kernel gives back when the owner's process ends;
// a folder of our user and of the same prefix that can be locked has no owner.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/base/file.h"

namespace galley {

class TemporaryFolder {
 public:
  // <parent>/<prefix>XXXXXX. `prefix` must be of nobody else's folders: theirs would be removed.
  static absl::StatusOr<TemporaryFolder> Make(const std::string& parent, std::string_view prefix);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&&) noexcept = default;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  const std::string& path() const { return path_; }

 private:
  TemporaryFolder(std::string path, FileDescriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  FileDescriptor lock_;  // invalid: moved from
};

}  // namespace galley
