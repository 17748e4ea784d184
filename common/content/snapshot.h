// Snapshot: the files of all mounts as one cook sees them: path, size, times and inode of each
// file, and digests, which are computed when they are first asked for.
//
// Scan walks the mounts with several threads and leaves out ignored files. An odd file (link out of
// its mount, loop, device, pipe, socket, unreadable) is an entry with an error, and so is a folder
// that cannot be read, and a name that cannot be a virtual path, which is shown with \xNN. The stat
// of a folder's entry says that it is a folder. Names that differ only in case or Unicode form all
// get an error. A folder exists if a file is in it; empty folders are not seen. A folder with
// kSandboxFile is not looked into, unless it is a mount's own.
//
// Mounts are overlaid: at one virtual path the mount with the longer path wins, then the mount with
// the higher priority. A file hides a weaker mount's file or whole folder; a folder hides a file.
//
// Digests are computed from bytes that were read, and kept in the digest cache by path, size,
// mtime, ctime and inode. A cached digest counts only if the file was not racy (common/base/racy.h)
// when it was hashed: a file that changed within one clock tick of its hashing is hashed again next
// time.
//
// A snapshot of a table's file decodes only the files that are asked for. A successor in which only
// bytes of files changed shares all other files (Refresh).
//
// Threads: the files are immutable after Scan; DigestOf/Read may be called from many threads.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/blob.h"
#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/file.h"
#include "common/content/glob.h"
#include "common/content/stamp_table.h"

namespace galley::content {

// The file that marks a sandbox, a folder in which Galley lays out cooked files (director/stage).
// Files in a sandbox are never content, wherever the sandbox is.
inline constexpr std::string_view kSandboxFile = ".galley-sandbox";

struct Mount {
  std::string path;       // virtual, "/Game"
  std::string directory;  // absolute host path
  int priority = 0;
  bool is_engine = false;
  std::string stage_as;  // empty: path
};

struct Change;
class FileList;
class Snapshot;
struct SnapshotFiles;
std::vector<Change> DiffSnapshots(const Snapshot& before, Snapshot& now,
                                  std::vector<std::string>* touched, const Cancellation* stop);

struct FileEntry {
  std::string path;  // virtual
  std::string host_path;
  uint32_t mount = 0;  // index into mounts()
  FileStat stat;
  std::string error;  // not empty: this file cannot be used, and why
};

enum class EntryKind { kAbsent, kFile, kFolder };

struct ScanOptions {
  std::vector<Mount> mounts;
  // Globs over virtual paths or, when they do not begin with '/', over path suffixes.
  std::vector<std::string> ignore;
  // Absolute host paths: .galley, the store, the output.
  std::vector<std::string> excluded_directories;
  unsigned threads = 0;           // 0: one for each core, at most 8
  std::string digest_cache_file;  // empty: none. Scan reads it, SaveDigestCache writes it
  // Wall time, to find racy files; nullptr: the system's. Several threads use the clock; it
  // outlives the snapshot and its successors.
  Clock* clock = nullptr;
  const Cancellation* stop = nullptr;  // ends Scan with CANCELLED; nullptr: never
};

class Snapshot {
 public:
  // INVALID_ARGUMENT, with their names: two mounts of equal path and priority, or a mount that is
  // no folder. A single file never fails the scan.
  static absl::StatusOr<std::unique_ptr<Snapshot>> Scan(const ScanOptions& options);
  // Reads a table that a director wrote with WriteTable, for a worker on the same machine.
  // `before`: the snapshot of an earlier table; a common base is shared. INVALID_ARGUMENT: the
  // table or its base is damaged.
  static absl::StatusOr<std::unique_ptr<Snapshot>> ReadTable(const std::string& file,
                                                             const Snapshot* before = nullptr);
  // The file name of the table's base; empty: no base. Damage of the table may not be found, since
  // it is not read as a whole.
  static absl::StatusOr<std::string> BaseOfTable(const std::string& file);
  // Reads a table instead of a Scan with these options: the files as they were when the table was
  // written, for Refresh. FAILED_PRECONDITION: the table is of other mounts or rules.
  static absl::StatusOr<std::unique_ptr<Snapshot>> FromTable(const std::string& file,
                                                             const ScanOptions& options);
  ~Snapshot();

  // The identity of the table that this snapshot was read from; empty when it was scanned.
  const std::string& identity() const;
  const std::vector<Mount>& mounts() const;
  // Host paths of the folders that Scan did not look into, since they are sandboxes. Sorted.
  const std::vector<std::string>& sandboxes() const;
  // Sorted by path.
  FileList files() const;
  // nullptr: absent, or a folder. Entries with an error are returned.
  const FileEntry* Find(std::string_view path) const;
  EntryKind Kind(std::string_view path) const;
  // The first file whose path equals `path` but for case and Unicode form, for "did you mean";
  // nullptr: none.
  const FileEntry* FindFolded(std::string_view path) const;
  // Returns every file whose path equals `path` but for case and Unicode form, the file `path` too,
  // sorted by path. If there are several, each has an error. Cost: logarithmic; the first call for
  // a snapshot of a table reads all files.
  std::vector<const FileEntry*> FindAllFolded(std::string_view path) const;
  // Names in a folder, sorted by bytes, folders with '/' at the end; nullopt when there is no such
  // folder.
  std::optional<std::vector<std::string>> List(std::string_view folder) const;
  // Paths relative to `root` that match `pattern` (relative to root), sorted by bytes.
  std::vector<std::string> Matches(std::string_view root, const Glob& pattern) const;

  // The digest of a file; a known digest is returned without a look at the file. NOT_FOUND: absent.
  // ABORTED: the file has changed since the scan. FAILED_PRECONDITION: the entry has an error, or
  // the file cannot be read. INTERNAL: the disk failed. CANCELLED: `stop` was cancelled before the
  // file was hashed to its end.
  absl::StatusOr<Digest> DigestOf(std::string_view path, const Cancellation* stop = nullptr);
  // The digest if it is known without reading, else nullopt.
  std::optional<Digest> KnownDigest(std::string_view path) const;
  // Reads a file, and computes its digest. Errors as DigestOf, and also: ABORTED: the bytes do not
  // have the known digest. RESOURCE_EXHAUSTED: larger than `size_bytes_max`.
  struct Content {
    Blob bytes;
    Digest digest;
  };
  absl::StatusOr<Content> Read(std::string_view path, uint64_t size_bytes_max = UINT64_MAX);
  // Hands the bytes to `take` in pieces, and returns their digest. Errors as Read; after an error
  // the pieces must not be used.
  absl::StatusOr<Digest> Stream(std::string_view path,
                                const std::function<void(std::string_view)>& take,
                                const Cancellation* stop = nullptr);
  // OK: the file can be used. NOT_FOUND: absent. FAILED_PRECONDITION: the entry has an error.
  absl::Status CheckUsable(std::string_view path) const;
  // Takes the digest from a worker, which has read the file. ABORTED: the known digest or the size
  // differs.
  absl::Status LearnDigest(std::string_view path, const Digest& digest);

  // A successor in which `paths` (virtual; files or folders, with all below them) were looked at
  // again: changed, gone or new. Other files keep their digests. If only bytes of files changed,
  // and nothing was or is at the other paths, the cost is linear in `paths`, and in the files that
  // a mod hides; otherwise, and after many such successors, it is linear in all files.
  // INVALID_ARGUMENT: a path does not begin with '/', or a mount is no folder any more.
  absl::StatusOr<std::unique_ptr<Snapshot>> Refresh(std::span<const std::string> paths) const;

  // True: both have the same files at the same numbers, with the same or other bytes. False:
  // unknown.
  bool IsRevisionOf(const Snapshot& other) const;

  // Writes the known digests, and the stats that they hold for, by a rename. Racy files are left
  // out.
  absl::Status SaveDigestCache() const;
  // The stamps of all files and folders, as bytes of a table (stamp_table.h): while the stamps
  // hold, Scan would make this snapshot again. Hashes some racy files without a digest.
  // FAILED_PRECONDITION, with the reason: stamps cannot prove the snapshot, since a folder changed
  // or could not be read during the scan, or since this is a successor, not a snapshot of Scan.
  absl::StatusOr<std::string> Stamps();
  // The stamps of these files alone (StampTable::With). Hashes files without a digest. Errors as
  // DigestOf, and also: FAILED_PRECONDITION: a file is a link.
  absl::StatusOr<std::vector<StampPatch>> StampsOf(std::span<const std::string> paths);
  // True: digests were learned since the last WriteTable.
  bool HasUnwrittenDigests() const;
  // True: the cache lacks so many digests that it should be saved.
  bool IsCacheBehind() const;
  // Writes the table (paths, host paths, stats, known digests) for ReadTable. `identity` differs
  // from every other table's, also from a table of the same name that a backup brought back. The
  // table of a successor may have an earlier table in the same folder as its base, whose file must
  // stay.
  absl::Status WriteTable(const std::string& file, std::string_view identity = {}) const;

  // Counts for the summary of a cook.
  struct Counters {
    uint64_t files = 0;
    uint64_t bytes_hashed = 0;
    uint64_t files_hashed = 0;
  };
  Counters counters() const;

 private:
  friend std::vector<Change> DiffSnapshots(const Snapshot& before, Snapshot& now,
                                           std::vector<std::string>* touched,
                                           const Cancellation* stop);
  friend class FileList;
  friend class SnapshotMaker;  // testing/snapshot_maker.h
  explicit Snapshot(std::unique_ptr<SnapshotFiles> files);
  std::unique_ptr<SnapshotFiles> files_;
};

// FileList: all files of a snapshot, sorted by path. Valid as long as the snapshot.
class FileList {
 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = FileEntry;
    using difference_type = std::ptrdiff_t;
    using pointer = const FileEntry*;
    using reference = const FileEntry&;

    Iterator() = default;
    reference operator*() const { return FileList(*of_)[at_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    friend class FileList;
    Iterator(const Snapshot* of, size_t at) : of_(of), at_(at) {}
    const Snapshot* of_ = nullptr;
    size_t at_ = 0;
  };

  size_t size() const;
  const FileEntry& operator[](size_t i) const;
  Iterator begin() const { return {of_, 0}; }
  Iterator end() const { return {of_, size()}; }

 private:
  friend class Snapshot;
  explicit FileList(const Snapshot& of) : of_(&of) {}
  const Snapshot* of_;
};

}  // namespace galley::content
