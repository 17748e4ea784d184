#include "common/base/named_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/real_path.h"
#include "common/base/status_macros.h"

namespace galley {
namespace {

constexpr int kLinksMax = 40;  // as the kernel has it
constexpr int kReaderWaits = 100;
constexpr long kReaderWaitNs = 20'000'000;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool TakePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<int> TakeNumber(std::string_view& text) {
  int number = 0;
  size_t size = 0;
  for (; size < text.size() && size < 9 && text[size] >= '0' && text[size] <= '9'; ++size)
    number = number * 10 + (text[size] - '0');
  if (size == 0) return std::nullopt;
  text.remove_prefix(size);
  return number;
}

// An open file of a process, as /proc/<process>/fd/<number> names it.
struct OpenFile {
  int process = 0;
  int number = 0;
};
std::optional<OpenFile> AsOpenFile(std::string_view path) {
  if (!TakePrefix(path, "/proc/")) return std::nullopt;
  const auto process = TakeNumber(path);
  if (process && TakePrefix(path, "/task/") && !TakeNumber(path)) return std::nullopt;
  if (!process || !TakePrefix(path, "/fd/")) return std::nullopt;
  const auto number = TakeNumber(path);
  if (!number || !path.empty()) return std::nullopt;
  return OpenFile{.process = *process, .number = *number};
}

// The end of the links at `path`, absent or not. The links of /proc to open files are ends: what
// they say is a name, or no path at all.
absl::StatusOr<std::string> FollowLinks(std::string path) {
  for (int links = 0; links < kLinksMax; ++links) {
    const size_t slash = path.rfind('/');
    const std::string folder = RealPath(FolderOf(path));
    path = JoinPath(folder == "/" ? "" : folder, path.substr(slash + 1));
    if (AsOpenFile(path)) return path;
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
    if (size < 0) return path;
    target.resize(static_cast<size_t>(size));
    path = target.starts_with('/') ? target : JoinPath(folder == "/" ? "" : folder, target);
  }
  return ErrnoStatus(ELOOP, "follow", path);
}

absl::Status Refused(const std::string& path, std::string_view what) {
  return FailedPreconditionError("{} is {}, which cannot be written to: name a file", path, what);
}

// A FIFO is opened without waiting for a reader, and then waits for its reader as any.
absl::StatusOr<FileDescriptor> OpenFifo(const std::string& path) {
  for (int wait = 0; wait < kReaderWaits; ++wait) {
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (file.valid()) {
      if (::fcntl(file.get(), F_SETFL, 0) != 0) return ErrnoStatus(errno, "open", path);
      return file;
    }
    if (errno != ENXIO) return ErrnoStatus(errno, "open", path);
    const timespec pause{.tv_sec = 0, .tv_nsec = kReaderWaitNs};
    ::nanosleep(&pause, nullptr);
  }
  return FailedPreconditionError(
      "{} is a FIFO that nobody reads: start its reader first, or name a file", path);
}

absl::StatusOr<FileDescriptor> OpenInPlace(const std::string& path, mode_t mode, bool is_open) {
  if (S_ISDIR(mode)) return Refused(path, "a folder");
  if (S_ISSOCK(mode)) return Refused(path, "a socket");
  if (S_ISBLK(mode)) return Refused(path, "a disk");
  if (S_ISFIFO(mode)) return OpenFifo(path);
  FileDescriptor file(
      ::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | (is_open ? O_APPEND : 0)));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  return file;
}

absl::StatusOr<FileDescriptor> CreateBeside(const std::string& target, std::string& temporary) {
  temporary = target + ".XXXXXX";
  FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "create", temporary);
  if (::fchmod(file.get(), 0644) == 0) return file;
  const int error = errno;
  ::unlink(temporary.c_str());
  return ErrnoStatus(error, "chmod", temporary);
}

}  // namespace

NamedFile::NamedFile(FileDescriptor file, std::string target, std::string temporary)
    : file_(std::move(file)), target_(std::move(target)), temporary_(std::move(temporary)) {}

NamedFile::NamedFile(NamedFile&& other) noexcept
    : file_(std::move(other.file_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})) {}

NamedFile::~NamedFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

absl::StatusOr<NamedFile> NamedFile::Open(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string target, FollowLinks(AbsolutePath(path)));
  const std::optional<OpenFile> open = AsOpenFile(target);
  if (open && open->process == ::getpid()) {
    // Text that was printed there comes first. A descriptor of our own needs no permission.
    std::fflush(nullptr);
    FileDescriptor copy(::fcntl(open->number, F_DUPFD_CLOEXEC, 0));
    if (!copy.valid()) return ErrnoStatus(errno, "open", path);
    return NamedFile(std::move(copy), path, "");
  }
  struct stat stat {};
  const bool is_there = ::stat(target.c_str(), &stat) == 0;
  if (is_there && (open || !S_ISREG(stat.st_mode))) {
    ASSIGN_OR_RETURN(FileDescriptor file, OpenInPlace(target, stat.st_mode, open.has_value()));
    return NamedFile(std::move(file), target, "");
  }
  std::string temporary;
  ASSIGN_OR_RETURN(FileDescriptor file, CreateBeside(target, temporary));
  return NamedFile(std::move(file), target, std::move(temporary));
}

absl::Status NamedFile::Complete(bool sync) {
  if (!is_file()) return absl::OkStatus();
  if (sync && ::fsync(file_.get()) != 0) return ErrnoStatus(errno, "sync", temporary_);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    return ErrnoStatus(errno, "rename", target_);
  temporary_.clear();
  return sync ? SyncDirectory(FolderOf(target_)) : absl::OkStatus();
}

absl::Status WriteNamedFile(const std::string& path, std::string_view bytes) {
  ASSIGN_OR_RETURN(NamedFile file, NamedFile::Open(path));
  RETURN_IF_ERROR(WriteAll(file.descriptor(), bytes, path));
  return file.Complete();
}

}  // namespace galley
