#include "common/base/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "common/base/log.h"
#include "common/base/status_macros.h"

namespace galley {
namespace {

constexpr int kTriesMax = 100;  // somebody may remove our folder before it is locked

// Invalid: another one holds it, it is not ours, or it is gone.
FileDescriptor Lock(const std::string& path) {
  FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat opened {};
  if (!folder.valid() || ::fstat(folder.get(), &opened) != 0 || opened.st_uid != ::geteuid() ||
      ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0)
    return FileDescriptor();
  // Still the same: whoever had it may have removed it meanwhile.
  struct stat present {};
  if (::lstat(path.c_str(), &present) != 0 || present.st_ino != opened.st_ino ||
      present.st_dev != opened.st_dev)
    return FileDescriptor();
  return folder;
}

void RemoveDead(const std::string& parent, std::string_view prefix) {
  std::error_code error;
  for (std::filesystem::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().string();
    if (!entry->path().filename().string().starts_with(prefix)) continue;
    const FileDescriptor lock = Lock(path);
    if (!lock.valid()) continue;
    if (const absl::Status status = RemoveAll(path); !status.ok())
      LogWarning("temporary folder: {}", MessageOf(status));
  }
}

}  // namespace

absl::StatusOr<TemporaryFolder> TemporaryFolder::Make(const std::string& parent,
                                                      std::string_view prefix) {
  RemoveDead(parent, prefix);
  for (int i = 0; i < kTriesMax; ++i) {
    ASSIGN_OR_RETURN(std::string path, MakeTemporaryDirectory(parent, prefix));
    FileDescriptor lock = Lock(path);
    if (lock.valid()) return TemporaryFolder(std::move(path), std::move(lock));
  }
  return absl::UnavailableError("no folder in " + parent + " can be locked");
}

TemporaryFolder::~TemporaryFolder() {
  if (!lock_.valid()) return;
  if (const absl::Status status = RemoveAll(path_); !status.ok())
    LogWarning("temporary folder: {}", MessageOf(status));
}

}  // namespace galley
