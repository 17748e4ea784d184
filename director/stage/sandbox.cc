#include "director/stage/sandbox.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <utility>

#include "common/base/errors.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// No package can have such a name: files that end in '~' are never sources.
std::string TemporaryName(size_t number) {
  return number == 0 ? ".galley-new~" : fmt::format(".galley-new{}~", number);
}

std::string_view ParentOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string NameOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool IsAtOrUnder(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

int64_t Nanoseconds(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The system's answers to opening something that is absent, no folder, or a link.
bool IsNoFolder(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

constexpr mode_t kPermissions = 0777;

Sandbox::NextPiece PiecesOf(std::string_view bytes) {
  return [bytes]() mutable -> absl::StatusOr<std::string_view> {
    const std::string_view piece = bytes.substr(0, Sandbox::kPieceBytes);
    bytes.remove_prefix(piece.size());
    return piece;
  };
}

// Gives a new folder its mode, and keeps inherited bits (setgid).
absl::Status SetModeOfFolder(int folder, mode_t umask, const std::string& path) {
  struct stat s {};
  if (::fstat(folder, &s) != 0) return ErrnoStatus(errno, "stat", path);
  const mode_t mode = (s.st_mode & 07000) | (kPermissions & ~umask);
  if ((s.st_mode & 07777) == mode || ::fchmod(folder, mode) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "chmod", path);
}

}  // namespace

Sandbox::Sandbox(std::string directory, FileDescriptor root, size_t number,
                 std::optional<mode_t> umask)
    : directory_(std::move(directory)),
      root_(std::move(root)),
      temporary_name_(TemporaryName(number)),
      umask_(umask) {
  if (umask_.has_value()) *umask_ &= ~mode_t{S_IRWXU};
}

absl::StatusOr<Sandbox> Sandbox::Open(const std::string& directory, size_t number,
                                      std::optional<mode_t> umask) {
  RETURN_IF_ERROR(umask.has_value() ? MakeFolders(directory, *umask)
                                    : CreateDirectories(directory));
  FileDescriptor root(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return ErrnoStatus(errno, "open folder", directory);
  return Sandbox(directory, std::move(root), number, umask);
}

absl::StatusOr<FileDescriptor> Sandbox::OpenSegment(int parent, const std::string& name,
                                                    std::string_view path, bool make) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  FileDescriptor folder(::openat(parent, name.c_str(), kFlags));
  if (folder.valid()) return folder;
  if (!IsNoFolder(errno)) return ErrnoStatus(errno, "open folder", Full(path));
  if (!make) return folder;
  // EISDIR: another thread has made the folder meanwhile.
  if (errno != ENOENT && ::unlinkat(parent, name.c_str(), 0) != 0 && errno != ENOENT &&
      errno != EISDIR) {
    return ErrnoStatus(errno, "replace by a folder", Full(path));
  }
  const bool is_made = ::mkdirat(parent, name.c_str(), 0755) == 0;
  if (!is_made && errno != EEXIST) return ErrnoStatus(errno, "make folder", Full(path));
  folder = FileDescriptor(::openat(parent, name.c_str(), kFlags));
  if (!folder.valid()) return ErrnoStatus(errno, "open folder", Full(path));
  if (is_made && umask_.has_value())
    RETURN_IF_ERROR(SetModeOfFolder(folder.get(), *umask_, Full(path)));
  return folder;
}

absl::StatusOr<int> Sandbox::Folder(std::string_view path, bool make) {
  while (!open_.empty() && !IsAtOrUnder(path, open_.back().path)) open_.pop_back();
  while (true) {
    const std::string_view have =
        open_.empty() ? std::string_view() : std::string_view(open_.back().path);
    const int fd = open_.empty() ? root_.get() : open_.back().fd.get();
    if (have.size() == path.size()) return fd;
    const size_t begin = have.empty() ? 0 : have.size() + 1;
    const std::string_view next = path.substr(0, path.find('/', begin));
    ASSIGN_OR_RETURN(FileDescriptor folder,
                     OpenSegment(fd, std::string(next.substr(begin)), next, make));
    if (!folder.valid()) return -1;
    open_.push_back({std::string(next), std::move(folder)});
  }
}

void Sandbox::Close(std::string_view path) {
  while (!open_.empty() && IsAtOrUnder(open_.back().path, path)) open_.pop_back();
}

absl::Status Sandbox::CheckGoesOn() const {
  if (interrupted_ == nullptr || !interrupted_->load()) return absl::OkStatus();
  return absl::CancelledError("staging was interrupted");
}

absl::StatusOr<Node> Sandbox::Look(std::string_view path) {
  RETURN_IF_ERROR(CheckGoesOn());
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), false));
  if (parent < 0) return Node();
  struct stat s {};
  if (::fstatat(parent, NameOf(path).c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return Node();
    return ErrnoStatus(errno, "stat", Full(path));
  }
  if (S_ISDIR(s.st_mode)) return Node{.kind = NodeKind::kFolder};
  if (!S_ISREG(s.st_mode)) return Node{.kind = NodeKind::kOther};
  return Node{.kind = NodeKind::kFile,
              .size_bytes = static_cast<uint64_t>(s.st_size),
              .is_executable = (s.st_mode & S_IXUSR) != 0,
              .stamp = {.mtime_ns = Nanoseconds(s.st_mtim),
                        .ctime_ns = Nanoseconds(s.st_ctim),
                        .inode = s.st_ino}};
}

absl::StatusOr<std::vector<std::string>> Sandbox::Names(std::string_view folder) {
  RETURN_IF_ERROR(CheckGoesOn());
  std::vector<std::string> names;
  ASSIGN_OR_RETURN(const int fd, Folder(folder, false));
  if (fd < 0) return names;
  const int copy = ::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return ErrnoStatus(errno, "open folder", Full(folder));
  DIR* stream = ::fdopendir(copy);
  if (stream == nullptr) {
    const int error = errno;
    ::close(copy);
    return ErrnoStatus(error, "read folder", Full(folder));
  }
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int error = errno;
  ::closedir(stream);
  if (error != 0) return ErrnoStatus(error, "read folder", Full(folder));
  std::ranges::sort(names);
  return names;
}

absl::StatusOr<FileDescriptor> Sandbox::OpenIfReadable(std::string_view path) {
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), false));
  if (parent < 0) return FileDescriptor();
  FileDescriptor file(
      ::openat(parent, NameOf(path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.valid() || IsNoFolder(errno) || errno == EACCES || errno == ENXIO) return file;
  return ErrnoStatus(errno, "open", Full(path));
}

absl::StatusOr<bool> Sandbox::Holds(std::string_view path, const Digest& digest) {
  ASSIGN_OR_RETURN(const FileDescriptor file, OpenIfReadable(path));
  if (!file.valid()) return false;  // unreadable, so it is written anew
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file.get(), Full(path)));
  if (!S_ISREG(stat.mode) || stat.size_bytes != digest.size_bytes()) return false;
  DigestBuilder builder;
  std::string buffer(256 << 10, '\0');
  while (true) {
    RETURN_IF_ERROR(CheckGoesOn());
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", Full(path));
    if (count == 0) return builder.Finish() == digest;
    builder.Add(std::string_view(buffer.data(), static_cast<size_t>(count)));
  }
}

absl::StatusOr<bool> Sandbox::IsBlank(std::string_view path, uint64_t size_bytes_max) {
  ASSIGN_OR_RETURN(const FileDescriptor file, OpenIfReadable(path));
  if (!file.valid()) return false;
  ASSIGN_OR_RETURN(const FileStat stat, StatDescriptor(file.get(), Full(path)));
  if (!S_ISREG(stat.mode) || stat.size_bytes > size_bytes_max) return false;
  std::string buffer(256 << 10, '\0');
  while (true) {
    RETURN_IF_ERROR(CheckGoesOn());
    const ssize_t count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", Full(path));
    if (count == 0) return true;
    const std::string_view bytes(buffer.data(), static_cast<size_t>(count));
    if (bytes.find_first_not_of('\0') != std::string_view::npos) return false;
  }
}

absl::StatusOr<std::optional<std::string>> Sandbox::Read(std::string_view path,
                                                         uint64_t size_bytes_max) {
  ASSIGN_OR_RETURN(const Node node, Look(path));
  if (node.kind != NodeKind::kFile) return std::nullopt;
  if (node.size_bytes > size_bytes_max) {
    return ResourceExhaustedError("{} has {} bytes, the limit is {}", Full(path), node.size_bytes,
                                  size_bytes_max);
  }
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), false));
  const FileDescriptor file(
      ::openat(parent, NameOf(path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "open", Full(path));
  std::string bytes(node.size_bytes, '\0');
  size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ErrnoStatus(errno, "read", Full(path));
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  bytes.resize(size);
  return bytes;
}

absl::Status Sandbox::RemoveTemporaries() {
  for (size_t number = 0; number < kWritersMax; ++number)
    RETURN_IF_ERROR(RemoveFile(TemporaryName(number)));
  return absl::OkStatus();
}

bool Sandbox::IsTemporary(std::string_view path) {
  for (size_t number = 0; number < kWritersMax; ++number) {
    if (path == TemporaryName(number)) return true;
  }
  return false;
}

// In the sandbox's own folder, where the next stage finds the file if this stage is interrupted.
absl::StatusOr<FileDescriptor> Sandbox::CreateTemporary(std::string_view path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const char* const name = temporary_name_.c_str();
  FileDescriptor file(::openat(root_.get(), name, kFlags, 0600));
  if (!file.valid() && errno == EEXIST && ::unlinkat(root_.get(), name, 0) == 0)
    file = FileDescriptor(::openat(root_.get(), name, kFlags, 0600));
  if (!file.valid()) return ErrnoStatus(errno, "write", Full(path));
  return file;
}

absl::Status Sandbox::WriteTo(int file, std::string_view path, const NextPiece& next) const {
  while (true) {
    RETURN_IF_ERROR(CheckGoesOn());
    ASSIGN_OR_RETURN(const std::string_view piece, next());
    if (piece.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(WriteAll(file, piece, Full(path)));
  }
}

absl::StatusOr<bool> Sandbox::WriteNew(int parent, std::string_view path, const NextPiece& next,
                                       mode_t mode) {
  struct stat s {};
  if (::fstatat(parent, NameOf(path).c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
    return false;
  const FileDescriptor file(::openat(parent, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
  if (!file.valid()) return false;
  RETURN_IF_ERROR(WriteTo(file.get(), path, next));
  if (::fchmod(file.get(), mode) != 0) return ErrnoStatus(errno, "chmod", Full(path));
  // See open(2): this way to name such a file needs no privilege.
  const std::string unnamed = fmt::format("/proc/self/fd/{}", file.get());
  return ::linkat(AT_FDCWD, unnamed.c_str(), parent, NameOf(path).c_str(), AT_SYMLINK_FOLLOW) == 0;
}

mode_t Sandbox::ModeOfFile(bool is_executable) const {
  return (is_executable ? 0777 : 0666) & ~umask_.value_or(022);
}

absl::Status Sandbox::Write(std::string_view path, std::string_view bytes, bool is_executable) {
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), true));
  ASSIGN_OR_RETURN(const bool is_written,
                   WriteNew(parent, path, PiecesOf(bytes), ModeOfFile(is_executable)));
  return is_written ? absl::OkStatus() : WritePieces(path, PiecesOf(bytes), is_executable);
}

absl::Status Sandbox::WritePieces(std::string_view path, const NextPiece& next,
                                  bool is_executable) {
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), true));
  ASSIGN_OR_RETURN(FileDescriptor file, CreateTemporary(path));
  absl::Status status = WriteTo(file.get(), path, next);
  if (status.ok() && ::fchmod(file.get(), ModeOfFile(is_executable)) != 0)
    status = ErrnoStatus(errno, "chmod", Full(path));
  if (status.ok() && ::close(file.Release()) != 0) status = ErrnoStatus(errno, "write", Full(path));
  if (status.ok() &&
      ::renameat(root_.get(), temporary_name_.c_str(), parent, NameOf(path).c_str()) != 0) {
    status = ErrnoStatus(errno, "replace", Full(path));
  }
  if (!status.ok()) ::unlinkat(root_.get(), temporary_name_.c_str(), 0);
  return status;
}

absl::StatusOr<FileDescriptor> Sandbox::KeepFolder(std::string_view path) {
  ASSIGN_OR_RETURN(const int folder, Folder(path, false));
  if (folder < 0) return FailedPreconditionError("{} is gone", Full(path));
  FileDescriptor copy(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  if (!copy.valid()) return ErrnoStatus(errno, "open folder", Full(path));
  return copy;
}

absl::StatusOr<FileDescriptor> Sandbox::Create(std::string_view path, bool is_executable) {
  RETURN_IF_ERROR(RemoveFile(path));
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), true));
  FileDescriptor file(::openat(parent, NameOf(path).c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.valid()) return ErrnoStatus(errno, "write", Full(path));
  if (::fchmod(file.get(), ModeOfFile(is_executable)) != 0)
    return ErrnoStatus(errno, "chmod", Full(path));
  return file;
}

absl::StatusOr<FileDescriptor> Sandbox::OpenFile(std::string_view path) {
  ASSIGN_OR_RETURN(const Node node, Look(path));
  if (node.kind != NodeKind::kFile) return NotFoundError("{} is no regular file", Full(path));
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), false));
  FileDescriptor file(
      ::openat(parent, NameOf(path).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, "open", Full(path));
  return file;
}

absl::StatusOr<bool> Sandbox::Link(std::string_view from, std::string_view to) {
  RETURN_IF_ERROR(RemoveFile(to));
  ASSIGN_OR_RETURN(const FileDescriptor folder, KeepFolder(ParentOf(from)));
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(to), true));
  if (::linkat(folder.get(), NameOf(from).c_str(), parent, NameOf(to).c_str(), 0) == 0) return true;
  if (errno == EPERM || errno == EMLINK || errno == EOPNOTSUPP || errno == EXDEV) return false;
  return ErrnoStatus(errno, "link", Full(from));
}

absl::Status Sandbox::MakeSymbolicLink(const std::string& target, std::string_view path) {
  RETURN_IF_ERROR(RemoveFile(path));
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), true));
  if (::symlinkat(target.c_str(), parent, NameOf(path).c_str()) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, "make symbolic link", Full(path));
}

absl::StatusOr<std::optional<std::string>> Sandbox::TargetOf(std::string_view path) {
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), false));
  if (parent < 0) return std::optional<std::string>();
  std::string target(PATH_MAX, '\0');
  const ssize_t size = ::readlinkat(parent, NameOf(path).c_str(), target.data(), target.size());
  if (size >= 0) return std::optional(target.substr(0, static_cast<size_t>(size)));
  if (errno == EINVAL || errno == ENOENT) return std::optional<std::string>();
  return ErrnoStatus(errno, "read link", Full(path));
}

absl::Status Sandbox::Move(std::string_view from, std::string_view to) {
  ASSIGN_OR_RETURN(const FileDescriptor folder, KeepFolder(ParentOf(from)));
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(to), true));
  if (::renameat(folder.get(), NameOf(from).c_str(), parent, NameOf(to).c_str()) == 0)
    return absl::OkStatus();
  return ErrnoStatus(errno, "replace", Full(to));
}

absl::Status Sandbox::Sync() {
  return ::syncfs(root_.get()) == 0 ? absl::OkStatus() : ErrnoStatus(errno, "sync", directory_);
}

absl::StatusOr<bool> Sandbox::LinkIn(int fd, std::string_view path) {
  // See open(2): this way to name an open file needs no privilege.
  return LinkAt(fmt::format("/proc/self/fd/{}", fd), AT_SYMLINK_FOLLOW, path);
}

absl::StatusOr<bool> Sandbox::LinkFrom(const std::string& host_path, std::string_view path) {
  return LinkAt(host_path, 0, path);
}

absl::StatusOr<bool> Sandbox::LinkAt(const std::string& from, int flags, std::string_view path) {
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), true));
  if (::linkat(AT_FDCWD, from.c_str(), parent, NameOf(path).c_str(), flags) == 0) return true;
  // Another device, too many names already, a file system without links, a file that is not ours
  // (protected_hardlinks), no /proc.
  if (errno == EXDEV || errno == EMLINK || errno == EPERM || errno == EOPNOTSUPP ||
      errno == EACCES || errno == ENOENT)
    return false;
  return ErrnoStatus(errno, "link", Full(path));
}

absl::StatusOr<bool> Sandbox::CloneIn(int fd, std::string_view path, bool is_executable,
                                      CloneFunction clone) {
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), true));
  const FileDescriptor file(::openat(parent, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
  if (!file.valid() || clone(file.get(), fd) != 0) return false;
  if (::fchmod(file.get(), ModeOfFile(is_executable)) != 0)
    return ErrnoStatus(errno, "chmod", Full(path));
  return LinkIn(file.get(), path);
}

absl::Status MakeFolders(const std::string& directory, mode_t umask) {
  umask &= ~mode_t{S_IRWXU};
  for (size_t end = directory.find('/', 1);; end = directory.find('/', end + 1)) {
    const std::string path = directory.substr(0, end);
    if (::mkdir(path.c_str(), kPermissions) == 0) {
      const FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (!folder.valid()) return ErrnoStatus(errno, "open folder", path);
      RETURN_IF_ERROR(SetModeOfFolder(folder.get(), umask, path));
    }
    // An error about an obstacle has the whole path.
    if (end == std::string::npos) return CreateDirectories(directory);
  }
}

absl::StatusOr<FileDescriptor> LockFolder(const std::string& directory) {
  FileDescriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return ErrnoStatus(errno, "open folder", directory);
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) return folder;
  if (errno == EWOULDBLOCK) {
    return FailedPreconditionError(
        "{}: another cook, apply or checkout works on it; wait for it to end", directory);
  }
  return ErrnoStatus(errno, "lock", directory);
}

absl::Status Sandbox::RemoveFile(std::string_view path) {
  RETURN_IF_ERROR(CheckGoesOn());
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), false));
  if (parent < 0 || ::unlinkat(parent, NameOf(path).c_str(), 0) == 0 || errno == ENOENT)
    return absl::OkStatus();
  return ErrnoStatus(errno, "remove", Full(path));
}

absl::StatusOr<bool> Sandbox::RemoveEmptyFolder(std::string_view path) {
  Close(path);
  ASSIGN_OR_RETURN(const int parent, Folder(ParentOf(path), false));
  if (parent < 0 || ::unlinkat(parent, NameOf(path).c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT)
    return true;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) return false;
  return ErrnoStatus(errno, "remove folder", Full(path));
}

}  // namespace galley::director
