// ProjectLock: flock(2) on <state>/lock. The file holds the owner's process id for people; only the
// lock counts, so a file left behind by a crash does no harm.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/own_file.h"
#include "common/base/status_macros.h"
#include "director/journal/journal.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

std::string TextOf(int fd) {
  char text[64];
  const ssize_t size = ::pread(fd, text, sizeof(text), 0);
  return std::string(text, size > 0 ? static_cast<size_t>(size) : 0);
}

constexpr int kTriesMax = 20;
constexpr unsigned kPauseUs = 2'000;

// Calls flock(2), without waiting.
int Lock(int fd, int how) {
  int result = 0;
  do {
    result = ::flock(fd, how | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  return result;
}

class FileLock final : public ProjectLock {
 public:
  FileLock(std::string path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  ~FileLock() override {
    if (Check().ok() && ::ftruncate(file_.get(), 0) != 0)
      LogWarning("project lock: its file could not be emptied");
  }

  absl::Status SetTerm(uint32_t term) override {
    return Write(fmt::format("{} term {}\n", ::getpid(), term));
  }

  absl::Status Write(std::string text) {
    base::MutexLock lock(mutex_);
    if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0)
      return ErrnoStatus(errno, "empty", path_);
    RETURN_IF_ERROR(WriteAll(file_.get(), text, path_));
    text_ = std::move(text);
    return absl::OkStatus();
  }

  absl::Status Check() const override {
    base::MutexLock lock(mutex_);
    ASSIGN_OR_RETURN(const FileStat ours, StatDescriptor(file_.get(), path_));
    const absl::StatusOr<FileStat> present = StatFile(path_, false);
    const bool is_ours = present.ok() && present->inode == ours.inode &&
                         present->device == ours.device && TextOf(file_.get()) == text_;
    if (is_ours) return absl::OkStatus();
    return FailedPreconditionError(
        "this cook was overtaken: {} {}, so another cook may have this project now, and "
        "nothing more is written; cook again{}",
        path_, present.ok() ? "is no longer its own" : "was deleted while it ran",
        present.ok() ? "" : ", and leave .galley alone while a cook runs");
  }

 private:
  const std::string path_;
  FileDescriptor file_;
  // Nobody sees the file while it is written.
  mutable base::Mutex mutex_;
  std::string text_ GALLEY_GUARDED_BY(mutex_);  // the file's text while the lock is ours
};

std::string OwnerOf(int fd) {
  std::string owner = TextOf(fd);
  owner.resize(std::min(owner.size(), owner.find_first_not_of("0123456789")));
  return owner.empty() ? "another process" : fmt::format("process {}", owner);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProjectLock>> ProjectLock::TryAcquire(
    const std::string& state_directory) {
  RETURN_IF_ERROR(CreateDirectories(state_directory));
  const std::string path = JoinPath(state_directory, "lock");
  RETURN_IF_ERROR(EnsureWritableFile(path));
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  int result = Lock(file.get(), LOCK_EX);
  // Whoever calls WhileFree has it for less than that.
  for (int tries = 0; tries < kTriesMax && result != 0 && errno == EWOULDBLOCK; ++tries) {
    if (!TextOf(file.get()).empty()) break;  // a director
    ::usleep(kPauseUs);
    result = Lock(file.get(), LOCK_EX);
  }
  if (result != 0 && errno == EWOULDBLOCK) {
    return AlreadyExistsError("{} has this project ({})", OwnerOf(file.get()), path);
  }
  if (result != 0) return ErrnoStatus(errno, "lock", path);
  auto lock = std::make_unique<FileLock>(path, std::move(file));
  RETURN_IF_ERROR(lock->Write(fmt::format("{}\n", ::getpid())));
  return lock;
}

absl::Status ProjectLock::WhileFree(const std::string& state_directory,
                                    const std::function<absl::Status()>& work) {
  const std::string path = JoinPath(state_directory, "lock");
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.valid() && errno == ENOENT) return work();
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  if (Lock(file.get(), LOCK_SH) != 0)
    return UnavailableError("{} has this project ({})", OwnerOf(file.get()), path);
  return work();
}

}  // namespace galley::director
