// Sandbox: file operations below one folder, for staging, which never follow a symlink: folders are
// opened segment by segment with O_NOFOLLOW, so that a link that somebody puts into the sandbox
// never leads a write or a removal outside. The sandbox folder itself may be reached through links,
// because the user named it.
//
// Paths are relative, without leading or trailing '/', of plain segments; "" is the sandbox itself.
// Errors name the full path.
//
// Cost: one descriptor for each folder on the way to the last path, so use sorted paths.
// Threads: one owner.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/digest.h"
#include "common/base/file.h"

namespace galley::director {

enum class NodeKind { kAbsent, kFile, kFolder, kOther };

// FileStamp: the numbers that change when somebody writes to a file, or replaces it.
struct FileStamp {
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};

struct Node {
  NodeKind kind = NodeKind::kAbsent;
  uint64_t size_bytes = 0;
  bool is_executable = false;
  FileStamp stamp;
};

class Sandbox {
 public:
  static constexpr size_t kWritersMax = 4;
  // Bytes of a file between two checks of the interrupt.
  static constexpr size_t kPieceBytes = 4 << 20;

  // Opens the folder; makes it if it is absent. `number`: differs between sandboxes that write at
  // the same time, below kWritersMax. `umask`: decides the modes of new files and folders, instead
  // of the process's umask; nullopt: files are readable for all, folders follow the process.
  static absl::StatusOr<Sandbox> Open(const std::string& directory, size_t number = 0,
                                      std::optional<mode_t> umask = std::nullopt);

  std::optional<mode_t> umask() const { return umask_; }

  // From now on Look, reads, writes and removals return CANCELLED once `interrupted` is true, even
  // in the middle of a file; null: never. A file that was being written is then absent, or has its
  // old bytes.
  void StopOn(const std::atomic<bool>* interrupted) { interrupted_ = interrupted; }

  // Removes the temporary files of interrupted writers.
  absl::Status RemoveTemporaries();
  // Returns true for the path of a temporary file.
  static bool IsTemporary(std::string_view path);

  // Returns kind kAbsent also if a folder above is absent or no folder.
  absl::StatusOr<Node> Look(std::string_view path);
  // Returns the names in a folder, sorted by bytes.
  absl::StatusOr<std::vector<std::string>> Names(std::string_view folder);
  // Returns true if the path is a regular file with exactly the bytes of `digest`.
  absl::StatusOr<bool> Holds(std::string_view path, const Digest& digest);
  // Returns true if the path is a regular file with at most `size_bytes_max` bytes, all zero, or
  // none: a power cut leaves this of a file that was written and not synced.
  absl::StatusOr<bool> IsBlank(std::string_view path, uint64_t size_bytes_max);
  // Reads a file. nullopt: absent or no regular file. RESOURCE_EXHAUSTED: more than
  // `size_bytes_max`.
  absl::StatusOr<std::optional<std::string>> Read(std::string_view path, uint64_t size_bytes_max);

  // Makes or replaces a file in one step. Makes folders above; removes a non-folder in their place.
  // FAILED_PRECONDITION: a folder lies at `path`.
  absl::Status Write(std::string_view path, std::string_view bytes, bool is_executable);
  // Like Write, with bytes in pieces; an empty piece is the end. Returns an error of `next`
  // unchanged; then nothing was written.
  using NextPiece = std::function<absl::StatusOr<std::string_view>()>;
  absl::Status WritePieces(std::string_view path, const NextPiece& next, bool is_executable);
  // Removes a file, link or other non-folder. OK if absent.
  absl::Status RemoveFile(std::string_view path);
  // False: the folder is not empty, or no folder.
  absl::StatusOr<bool> RemoveEmptyFolder(std::string_view path);

  // --- What is put together in the sandbox before it goes to its place.

  // Makes a file for writing, in place of any file there. Makes folders above.
  absl::StatusOr<FileDescriptor> Create(std::string_view path, bool is_executable);
  // Opens a regular file for reading. NOT_FOUND: there is none.
  absl::StatusOr<FileDescriptor> OpenFile(std::string_view path);
  // Makes `to` another name of the file `from`, in place of any file there. Makes folders above.
  // False: this file system allows no second name, or no further one.
  absl::StatusOr<bool> Link(std::string_view from, std::string_view to);
  // Makes a symbolic link, in place of any file or link there. Makes folders above. The target is
  // not looked at: the caller has checked that it stays in the sandbox.
  absl::Status MakeSymbolicLink(const std::string& target, std::string_view path);
  // Returns the target of a symbolic link. nullopt: there is none.
  absl::StatusOr<std::optional<std::string>> TargetOf(std::string_view path);
  // Renames the file `from` to `to`, in place of any file there. Makes folders above.
  absl::Status Move(std::string_view from, std::string_view to);
  // Syncs the whole file system.
  absl::Status Sync();

  // --- Files of a store that become files of the sandbox, without their bytes passing through us.
  // The path is absent before. False: not possible here; the caller has to copy the file.

  // Adds the name `path` to the file open as `fd`: the file's mode is the same under all names.
  absl::StatusOr<bool> LinkIn(int fd, std::string_view path);
  // Adds the name `path` to the file at `host_path`.
  absl::StatusOr<bool> LinkFrom(const std::string& host_path, std::string_view path);
  // Makes a new file that shares the bytes of `fd` until somebody writes to it. `clone`: ioctl(to,
  // FICLONE, from), or a test's.
  using CloneFunction = int (*)(int to, int from);
  absl::StatusOr<bool> CloneIn(int fd, std::string_view path, bool is_executable,
                               CloneFunction clone);

  std::string Full(std::string_view path) const {
    return path.empty() ? directory_ : JoinPath(directory_, path);
  }

 private:
  struct OpenFolder {
    std::string path;
    FileDescriptor fd;
  };

  Sandbox(std::string directory, FileDescriptor root, size_t number, std::optional<mode_t> umask);

  mode_t ModeOfFile(bool is_executable) const;

  // Returns the descriptor of a folder; -1: there is no such folder and `make` is false.
  absl::StatusOr<int> Folder(std::string_view path, bool make);
  absl::StatusOr<FileDescriptor> OpenSegment(int parent, const std::string& name,
                                             std::string_view path, bool make);
  // Closes the descriptors of `path` and of the folders below it.
  void Close(std::string_view path);

  // Opens a file for reading; an invalid descriptor: `path` is no readable file.
  absl::StatusOr<FileDescriptor> OpenIfReadable(std::string_view path);

  // Writes a new file, which gets its name when it is whole, so that writers do not wait for each
  // other at the folder of the temporary files. False: something lies at the path, or the file
  // system has no files without names.
  absl::StatusOr<bool> WriteNew(int parent, std::string_view path, const NextPiece& next,
                                mode_t mode);
  absl::Status WriteTo(int file, std::string_view path, const NextPiece& next) const;
  absl::Status CheckGoesOn() const;
  absl::StatusOr<bool> LinkAt(const std::string& from, int flags, std::string_view path);
  // Like Folder(path, false), but returns a separate descriptor. FAILED_PRECONDITION: there is no
  // such folder.
  absl::StatusOr<FileDescriptor> KeepFolder(std::string_view path);
  absl::StatusOr<FileDescriptor> CreateTemporary(std::string_view path);

  std::string directory_;
  FileDescriptor root_;
  std::string temporary_name_;
  std::optional<mode_t> umask_;  // the owner may do everything with new files
  const std::atomic<bool>* interrupted_ = nullptr;
  std::vector<OpenFolder> open_;  // each folder lies in the previous one
};

// Makes a folder and the folders above it, with modes by `umask` instead of the process's umask.
absl::Status MakeFolders(const std::string& directory, mode_t umask);

// Locks a folder that a person named, so that only one process works on it; the lock is held until
// the descriptor is closed. FAILED_PRECONDITION: another process holds the lock.
absl::StatusOr<FileDescriptor> LockFolder(const std::string& directory);

}  // namespace galley::director
