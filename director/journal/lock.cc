// ProjectLock: flock(2) on <state>/lock. The file holds the owner's process id for people; the
// lock, not the file, is what counts, so a file left behind by a crash does no harm.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/journal/journal.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

class FileLock final : public ProjectLock {
 public:
  explicit FileLock(FileDescriptor file) : file_(std::move(file)) {}
  ~FileLock() override {
    if (::ftruncate(file_.get(), 0) != 0) LogWarning("project lock: its file could not be emptied");
  }

 private:
  FileDescriptor file_;
};

std::string OwnerOf(int fd) {
  char text[32];
  const ssize_t size = ::pread(fd, text, sizeof(text), 0);
  std::string owner(text, size > 0 ? static_cast<size_t>(size) : 0);
  owner.resize(std::min(owner.size(), owner.find_first_not_of("0123456789")));
  return owner.empty() ? "another process" : fmt::format("process {}", owner);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProjectLock>> ProjectLock::TryAcquire(
    const std::string& state_directory) {
  RETURN_IF_ERROR(CreateDirectories(state_directory));
  const std::string path = JoinPath(state_directory, "lock");
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  int result = 0;
  do {
    result = ::flock(file.get(), LOCK_EX | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno == EWOULDBLOCK) {
    return absl::AlreadyExistsError(
        fmt::format("{} has this project ({})", OwnerOf(file.get()), path));
  }
  if (result != 0) return ErrnoStatus(errno, "lock", path);
  if (::ftruncate(file.get(), 0) != 0) return ErrnoStatus(errno, "truncate", path);
  RETURN_IF_ERROR(WriteAll(file.get(), fmt::format("{}\n", ::getpid()), path));
  return std::make_unique<FileLock>(std::move(file));
}

}  // namespace galley::director
