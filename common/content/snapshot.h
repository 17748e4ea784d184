// Snapshot: the files of all mounts as one cook sees them: path, size, times and inode of every
// file; digests taken when first looked at.
//
// Scan walks the mounts with several threads, overlays them by priority (the higher wins at one
// virtual path), leaves out what is ignored, and gives every odd file (link out of its mount, loop,
// device, pipe, socket, non-UTF-8 name, unreadable) an error of its own instead of failing. Names
// that differ only in case or Unicode form are all marked. A folder is there when a file is in it;
// empty folders are not seen. Where mounts nest, a file of the longer virtual path hides what the
// other shows at the same virtual path. A file over a folder (of a weaker mount) hides all of it, a
// folder over a file hides the file. A folder that cannot be read, and a name that cannot be a
// virtual path (shown with \xNN), are entries with an error, too; a folder's stat says that it is
// one. A folder with kSandboxFile is not looked into, unless it is a mount's own.
//
// Digests: taken from bytes actually read, kept in the digest cache (path, size, mtime, ctime,
// inode -> digest). An entry is trusted only when the file was not racy (common/base/racy.h) when
// it was hashed: a file changed within one clock tick of its hashing is hashed again next time.
//
// Snapshots of a table's file decode the files that somebody asks for, and a successor of which
// only bytes changed shares all others (Refresh).
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

// A folder that holds this file is one in which Galley lays out cooked files (director/stage): what
// is there is never content, wherever it is.
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
std::vector<Change> Difference(const Snapshot& before, Snapshot& now,
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
  std::string digest_cache_file;  // empty: none. Read at the start; Save writes it
  // Wall time, to know what is racy; nullptr: the system's. Asked by several threads; outlives the
  // snapshot and its successors.
  Clock* clock = nullptr;
  const Cancellation* stop = nullptr;  // ends Scan with CANCELLED; nullptr: nobody does
};

class Snapshot {
 public:
  // INVALID_ARGUMENT: two mounts of equal path and priority, or a mount that is no folder (named).
  // Never fails for a single file.
  static absl::StatusOr<std::unique_ptr<Snapshot>> Scan(const ScanOptions& options);
  // Reads the table that a director wrote with WriteTable, for a worker on the same machine.
  // `before`: another one that was read; what both stand on is shared. INVALID_ARGUMENT: it is
  // damaged, or the table that it stands on is.
  static absl::StatusOr<std::unique_ptr<Snapshot>> ReadTable(const std::string& file,
                                                             const Snapshot* before = nullptr);
  // The name of the table that this one stands on; empty: on none. The table is not read as a
  // whole: its damage may not be found.
  static absl::StatusOr<std::string> BaseOfTable(const std::string& file);
  // ReadTable, of a table with which Scan with these options would begin, to be refreshed: the
  // files as they were when the table was written. FAILED_PRECONDITION: the table is of other
  // mounts or rules.
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
  // nullptr when absent (or a folder). Entries with an error are returned.
  const FileEntry* Find(std::string_view path) const;
  EntryKind Kind(std::string_view path) const;
  // The first file whose name is `path` but for case and Unicode form (for "did you mean"); nullptr
  // when there is none.
  const FileEntry* FindFolded(std::string_view path) const;
  // Names in a folder, sorted by bytes, folders with '/' at the end; nullopt when there is no such
  // folder.
  std::optional<std::vector<std::string>> List(std::string_view folder) const;
  // Paths relative to `root` that match `pattern` (relative to root), sorted by bytes.
  std::vector<std::string> Matches(std::string_view root, const Glob& pattern) const;

  // The digest of a file in this snapshot; a known one is answered without a look at the file.
  // NOT_FOUND: absent. ABORTED: the file is no longer what was scanned (stale).
  // FAILED_PRECONDITION: the entry's own error, or it cannot be read. INTERNAL: the disk failed.
  // CANCELLED: `stop` was cancelled before the file was hashed to its end.
  absl::StatusOr<Digest> DigestOf(std::string_view path, const Cancellation* stop = nullptr);
  // The digest if it is known without reading, else nullopt.
  std::optional<Digest> KnownDigest(std::string_view path) const;
  // Bytes with their digest, hashed on the way; errors as DigestOf, and ABORTED too when the bytes
  // differ from a digest already known. RESOURCE_EXHAUSTED: larger than `size_bytes_max`.
  struct Content {
    Blob bytes;
    Digest digest;
  };
  absl::StatusOr<Content> Read(std::string_view path, uint64_t size_bytes_max = UINT64_MAX);
  // Hands the bytes to `take` piece by piece; the digest of all of them. Errors as Read; what was
  // handed out is worth nothing then.
  absl::StatusOr<Digest> Stream(std::string_view path,
                                const std::function<void(std::string_view)>& take,
                                const Cancellation* stop = nullptr);
  // Whether it is a file that can be used. NOT_FOUND: it is absent; FAILED_PRECONDITION: its own
  // error.
  absl::Status CheckUsable(std::string_view path) const;
  // Digest from someone who read the file (a worker): remembered when it is new; ABORTED when it
  // differs from the one known.
  absl::Status LearnDigest(std::string_view path, const Digest& digest);

  // A successor in which `paths` (virtual; files or folders, with all below them) were looked at
  // again: changed, gone or new. Digests of other files are shared. Where all of them are files
  // that have other bytes, the cost is theirs (and now and then all, after many such successors);
  // otherwise it is linear in the files.
  // INVALID_ARGUMENT: a path does not begin with '/', or a mount is no folder any more.
  absl::StatusOr<std::unique_ptr<Snapshot>> Refresh(std::span<const std::string> paths) const;

  // Every file of the other one is here, at the same place, and there are no more; some may have
  // other bytes. False: nobody knows.
  bool IsRevisionOf(const Snapshot& other) const;

  // Digests known so far and the stats they hold for, written by rename. Files racy at the time are
  // left out.
  absl::Status SaveDigestCache() const;
  // The stamps of all files and folders (stamp_table.h), as bytes of a table: as long as they hold,
  // Scan would come to this snapshot. Hashes the few files that were racy when they were looked at
  // and whose digest nobody took. FAILED_PRECONDITION: stamps do not prove it, and why: a folder
  // could not be read, or this is no snapshot of Scan but a successor.
  absl::StatusOr<std::string> Stamps();
  // The stamps of these files alone (StampTable::With), which are hashed if need be.
  // FAILED_PRECONDITION: one of them cannot be read.
  absl::StatusOr<std::vector<StampPatch>> StampsOf(std::span<const std::string> paths);
  // Digests were learned since the table was written last.
  bool HasUnwrittenDigests() const;
  // So many digests are known that the cache lacks, or so many files have none, that it should be
  // saved.
  bool IsCacheBehind() const;
  // The table (paths, host paths, stats, known digests) for ReadTable. `identity` tells it from all
  // other tables, also from one of its name that a backup brought back. That of a successor may
  // stand on an earlier one in the same folder, whose file must stay.
  absl::Status WriteTable(const std::string& file, std::string_view identity = {}) const;

  // For `seconds` and `bytes` in the summary.
  struct Counters {
    uint64_t files = 0;
    uint64_t bytes_hashed = 0;
    uint64_t files_hashed = 0;
  };
  Counters counters() const;

 private:
  friend std::vector<Change> Difference(const Snapshot& before, Snapshot& now,
                                        std::vector<std::string>* touched,
                                        const Cancellation* stop);
  friend class FileList;
  explicit Snapshot(std::unique_ptr<SnapshotFiles> files);
  std::unique_ptr<SnapshotFiles> files_;
};

// FileList: all files of a snapshot, sorted by path. Holds for as long as the snapshot does.
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
