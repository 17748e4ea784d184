// Whole-file operations with clear errors. Paths are host paths. Errors name the path and the
// system's reason: NOT_FOUND (absent), PERMISSION_DENIED, RESOURCE_EXHAUSTED (no space, quota,
// descriptors), FAILED_PRECONDITION (wrong kind of file), INTERNAL (other I/O).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace galley {

// A status for `errno_value`, reading "<what> <path>: <reason>".
absl::Status ErrnoStatus(int errno_value, std::string_view what, std::string_view path);

// An owned file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { Reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.Release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = other.Release();
    }
    return *this;
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void Reset();

 private:
  int fd_ = -1;
};

// FileStat identifies a version of a file without reading it.
struct FileStat {
  uint64_t size_bytes = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  uint64_t inode = 0;
  uint64_t device = 0;
  uint32_t mode = 0;  // st_mode
  bool operator==(const FileStat&) const = default;
};

absl::StatusOr<FileStat> StatFile(const std::string& path, bool follow_links = true);
absl::StatusOr<FileStat> StatDescriptor(int fd, std::string_view path);
bool FileExists(const std::string& path);
// The bytes that this user may still write on the disk of `path`.
absl::StatusOr<uint64_t> FreeBytesAt(const std::string& path);

// FAILED_PRECONDITION: not a regular file; a FIFO does not block. RESOURCE_EXHAUSTED: more than
// `size_bytes_max` bytes.
absl::StatusOr<std::string> ReadFile(const std::string& path, uint64_t size_bytes_max = UINT64_MAX);
// Writes all bytes to a descriptor.
absl::Status WriteAll(int fd, std::string_view bytes, std::string_view path);
// Replaces `path` by a rename, so that a reader sees the old bytes or the new. `sync`: durable on
// return, folder entry included.
absl::Status WriteFileAtomic(const std::string& path, std::string_view bytes, bool sync = false);
absl::Status CreateDirectories(const std::string& path);
absl::Status RemoveAll(const std::string& path);
absl::Status SyncDirectory(const std::string& path);
// Makes an empty folder in `parent`, named `prefix` and six random characters; makes `parent` if
// absent.
absl::StatusOr<std::string> MakeTemporaryDirectory(const std::string& parent,
                                                   std::string_view prefix);
// The absolute, lexically normal form. A relative path is joined to `base`, or to the working
// directory if `base` is empty.
std::string AbsolutePath(std::string_view path, std::string_view base = {});
std::string JoinPath(std::string_view folder, std::string_view name);
// The folder of the running program.
std::string ProgramDirectory();

}  // namespace galley
