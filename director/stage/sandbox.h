// Sandbox: the file operations of staging below one folder, none of which follows a symlink:
// folders are opened segment by segment with O_NOFOLLOW, so that a link planted in the sandbox
// never leads a write or a removal outside. (The sandbox folder itself may be reached through
// links: it is the user's word.)
//
// Paths are relative, without leading or trailing '/', of plain segments; "" is the sandbox itself.
// Errors name the full path.
//
// Cost: one descriptor for each folder on the way to the last path used, so use sorted paths.
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

// FileStamp: the numbers that change when somebody writes to a file, or puts another in its place.
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
  // Of a file, between two looks whether staging goes on.
  static constexpr size_t kPieceBytes = 4 << 20;

  // Makes the folder if it is absent. Those that write at the same time have different numbers,
  // below kWritersMax. `umask`: decides the modes of files and folders that are made, whatever that
  // of the process is; nullopt: files are readable for all, folders follow the process.
  static absl::StatusOr<Sandbox> Open(const std::string& directory, size_t number = 0,
                                      std::optional<mode_t> umask = std::nullopt);

  std::optional<mode_t> umask() const { return umask_; }

  // From now on looking, reading, writing and removing files return CANCELLED once `interrupted` is
  // true, also in the middle of a file; null: never. A file that was being written is not there
  // then, or is what it was.
  void StopOn(const std::atomic<bool>* interrupted) { interrupted_ = interrupted; }

  // Removes the files that interrupted writers left.
  absl::Status RemoveTemporaries();
  // True for a path that only such a writer has.
  static bool IsTemporary(std::string_view path);

  // kAbsent also when a folder above is absent or no folder.
  absl::StatusOr<Node> Look(std::string_view path);
  // Names in a folder, sorted by bytes.
  absl::StatusOr<std::vector<std::string>> Names(std::string_view folder);
  // True when the regular file holds exactly the bytes of `digest`.
  absl::StatusOr<bool> Holds(std::string_view path, const Digest& digest);
  // True when the regular file has at most `size_bytes_max` bytes, all of them zero, or none: what
  // a power cut leaves of a file that was written and not synced.
  absl::StatusOr<bool> IsBlank(std::string_view path, uint64_t size_bytes_max);
  // nullopt when absent or no regular file. RESOURCE_EXHAUSTED above `size_bytes_max`.
  absl::StatusOr<std::optional<std::string>> Read(std::string_view path, uint64_t size_bytes_max);

  // The file appears whole, or is replaced whole. Folders above are made; what lies in their place
  // and is no folder is removed. FAILED_PRECONDITION when a folder lies at `path`.
  absl::Status Write(std::string_view path, std::string_view bytes, bool is_executable);
  // The same, of bytes that come in pieces; an empty one is the end. An error of `next` is returned
  // as it is, and nothing was written then.
  using NextPiece = std::function<absl::StatusOr<std::string_view>()>;
  absl::Status WritePieces(std::string_view path, const NextPiece& next, bool is_executable);
  // A file, link or other non-folder; absent is fine.
  absl::Status RemoveFile(std::string_view path);
  // False when it is not empty (or no folder).
  absl::StatusOr<bool> RemoveEmptyFolder(std::string_view path);

  // --- What is put together in the sandbox before it goes to its place.

  // A new file to write to; what lay there goes. Folders above are made.
  absl::StatusOr<FileDescriptor> Create(std::string_view path, bool is_executable);
  // To read a regular file. NOT_FOUND when there is none.
  absl::StatusOr<FileDescriptor> OpenFile(std::string_view path);
  // `to` becomes another name of the file `from`; what lay there goes, folders above are made.
  // False: this file system gives a file no second name, or not so many.
  absl::StatusOr<bool> Link(std::string_view from, std::string_view to);
  // The file `from` becomes `to`, in place of what lay there. Folders above are made.
  absl::Status Move(std::string_view from, std::string_view to);
  // All that was written to the file system is on the disk.
  absl::Status Sync();

  // --- Files of a store that become files of the sandbox, without their bytes passing through us.
  // `path` is new. False: not possible here; it has to be written.

  // Another name of the file open as `fd`: its mode is the same wherever it shows.
  absl::StatusOr<bool> LinkIn(int fd, std::string_view path);
  // The same, of the file at this path of the host.
  absl::StatusOr<bool> LinkFrom(const std::string& host_path, std::string_view path);
  // A file of its own that shares the bytes of `fd` until one of them is written to. `clone` is
  // ioctl(to, FICLONE, from): another one for tests.
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

  // The descriptor of a folder; -1 when it is not there (or no folder) and `make` is false.
  absl::StatusOr<int> Folder(std::string_view path, bool make);
  absl::StatusOr<FileDescriptor> OpenSegment(int parent, const std::string& name,
                                             std::string_view path, bool make);
  // Forgets descriptors of `path` and what lies under it.
  void Close(std::string_view path);

  // To read; not valid when it is no file that can be read.
  absl::StatusOr<FileDescriptor> OpenIfReadable(std::string_view path);

  // As a file without a name until it is whole, so that writers do not wait for each other at the
  // folder of the temporary files. False: something lies there, or there are no such files here.
  absl::StatusOr<bool> WriteNew(int parent, std::string_view path, const NextPiece& next,
                                mode_t mode);
  absl::Status WriteTo(int file, std::string_view path, const NextPiece& next) const;
  absl::Status CheckGoesOn() const;
  absl::StatusOr<bool> LinkAt(const std::string& from, int flags, std::string_view path);
  // As Folder(path, false), but a descriptor of its own; FAILED_PRECONDITION when it is not there.
  absl::StatusOr<FileDescriptor> KeepFolder(std::string_view path);
  absl::StatusOr<FileDescriptor> CreateTemporary(std::string_view path);

  std::string directory_;
  FileDescriptor root_;
  std::string temporary_name_;
  std::optional<mode_t> umask_;  // the owner may do all with what is made
  const std::atomic<bool>* interrupted_ = nullptr;
  std::vector<OpenFolder> open_;  // each lies in the one before
};

// Makes a folder and those above it, with modes by `umask`, whatever that of the process is.
absl::Status MakeFolders(const std::string& directory, mode_t umask);

// Held while one process works on a folder that a person named. FAILED_PRECONDITION: another does.
absl::StatusOr<FileDescriptor> LockFolder(const std::string& directory);

}  // namespace galley::director
