#include "common/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "common/base/errors.h"
#include "common/base/from_stat.h"
#include "common/base/own_program.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley {
namespace fs = std::filesystem;

absl::Status ErrnoStatus(int errno_value, std::string_view what, std::string_view path) {
  const std::string text = fmt::format("{} {}: {}", what, path, std::strerror(errno_value));
  switch (errno_value) {
    case ENOENT:
      return absl::NotFoundError(text);
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(text);
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
    case EFBIG:
      return absl::ResourceExhaustedError(text);
    case EEXIST:
      return absl::AlreadyExistsError(text);
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENOTEMPTY:
      return absl::FailedPreconditionError(text);
    default:
      return absl::InternalError(text);
  }
}

void FileDescriptor::Reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

namespace {

constexpr uint64_t kProcFileBytes = 1024;

}  // namespace

absl::StatusOr<FileStat> StatFile(const std::string& path, bool follow_links) {
  struct stat s {};
  if ((follow_links ? ::stat(path.c_str(), &s) : ::lstat(path.c_str(), &s)) != 0) {
    return ErrnoStatus(errno, "stat", path);
  }
  return FromStat(s);
}

absl::StatusOr<FileStat> StatDescriptor(int fd, std::string_view path) {
  struct stat s {};
  if (::fstat(fd, &s) != 0) return ErrnoStatus(errno, "stat", path);
  return FromStat(s);
}

absl::StatusOr<uint64_t> FreeBytesAt(const std::string& path) {
  struct statvfs disk {};
  if (::statvfs(path.c_str(), &disk) != 0)
    return ErrnoStatus(errno, "look at the free space of", path);
  return uint64_t{disk.f_bavail} * uint64_t{disk.f_frsize};
}

bool FileExists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t size_bytes_max) {
  // O_NONBLOCK: opening a FIFO must not hang.
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return ErrnoStatus(errno, "open", path);
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file.get(), path));
  if (!S_ISREG(stat.mode)) {
    return FailedPreconditionError("{} is not a regular file", path);
  }
  if (stat.size_bytes > size_bytes_max) {
    return ResourceExhaustedError("{} has {} bytes, the limit is {}", path, stat.size_bytes,
                                  size_bytes_max);
  }
  std::string bytes;
  // A further byte shows the end without another read; a file of /proc says 0 whatever it holds.
  bytes.resize(stat.size_bytes == 0 ? kProcFileBytes : stat.size_bytes + 1);
  size_t size = 0;
  while (true) {
    if (size == bytes.size()) {
      if (size > size_bytes_max) {
        return ResourceExhaustedError("{} grew past {} bytes", path, size_bytes_max);
      }
      bytes.resize(bytes.size() * 2);
    }
    const ssize_t count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", path);
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

absl::Status WriteAll(int fd, std::string_view bytes, std::string_view path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "write", path);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status WriteFileAtomic(const std::string& path, std::string_view bytes, bool sync) {
  std::string temporary = path + ".XXXXXX";
  FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "create", temporary);
  absl::Status status = WriteAll(file.get(), bytes, temporary);
  if (status.ok() && ::fchmod(file.get(), 0644) != 0)
    status = ErrnoStatus(errno, "chmod", temporary);
  if (status.ok() && sync && ::fdatasync(file.get()) != 0)
    status = ErrnoStatus(errno, "sync", temporary);
  file.Reset();
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = ErrnoStatus(errno, "rename", path);
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }
  return sync ? SyncDirectory(fs::path(path).parent_path().string()) : absl::OkStatus();
}

absl::Status CreateDirectories(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? ErrnoStatus(error.value(), "create folder", path) : absl::OkStatus();
}

absl::Status RemoveAll(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  return error ? ErrnoStatus(error.value(), "remove", path) : absl::OkStatus();
}

absl::Status SyncDirectory(const std::string& path) {
  FileDescriptor folder(
      ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return ErrnoStatus(errno, "open", path);
  if (::fsync(folder.get()) != 0) return ErrnoStatus(errno, "sync", path);
  return absl::OkStatus();
}

absl::StatusOr<std::string> MakeTemporaryDirectory(const std::string& parent,
                                                   std::string_view prefix) {
  RETURN_IF_ERROR(CreateDirectories(parent));
  std::string path = JoinPath(parent, std::string(prefix) + "XXXXXX");
  if (::mkdtemp(path.data()) == nullptr) return ErrnoStatus(errno, "create folder", path);
  return path;
}

std::string AbsolutePath(std::string_view path, std::string_view base) {
  fs::path full(path);
  if (full.is_relative()) {
    full = (base.empty() ? fs::current_path() : fs::path(base)) / full;
  }
  full = full.lexically_normal();
  std::string text = full.string();
  if (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

std::string JoinPath(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!path.empty() && path.back() != '/') path.push_back('/');
  path.append(name);
  return path;
}

std::string ProgramDirectory() {
  const std::string& program = OwnProgram();
  return program.empty() ? "." : fs::path(program).parent_path().string();
}

}  // namespace galley
