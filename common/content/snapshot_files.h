// SnapshotFiles: the files of one Snapshot, with the knowledge of each. Rows may be shared with an
// earlier snapshot; rows that differ from the shared rows stand in `replaced`.
//
// Threads: `mutex` guards the fields that say so, the counts are atomic, and everything else is
// constant after construction.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "common/base/mutex.h"
#include "common/content/file_rows.h"
#include "common/content/overlay.h"
#include "common/content/table.h"
#include "common/content/walk.h"

namespace galley::content {

// The largest number of rows that may differ in a successor which shares rows: with more rows, each
// table would cost too much.
size_t SharedRowsMax(size_t files);

struct SnapshotFiles {
  TableHead head;  // constant after construction; it names no base
  std::shared_ptr<FileRows> rows;
  // Rows by the number of the shared row in whose place they stand. Constant after construction,
  // but for digests.
  absl::flat_hash_map<uint32_t, Row> replaced;
  std::string digest_cache_file;
  Clock* clock = nullptr;
  // Folders and links that were seen, constant after construction. A successor has no folders.
  std::vector<SeenFolder> folders;
  absl::flat_hash_map<std::string, FileStat> links;  // the links themselves, by host path

  mutable base::Mutex mutex;  // guards the digests in `replaced`, too
  // The file that holds `rows`, and the number of digests that were learned when it was written.
  mutable std::string base GALLEY_GUARDED_BY(mutex);  // empty: there is none
  mutable std::string base_identity GALLEY_GUARDED_BY(mutex);
  mutable size_t base_learned GALLEY_GUARDED_BY(mutex) = 0;

  std::atomic<uint64_t> bytes_hashed = 0;
  std::atomic<uint64_t> files_hashed = 0;
  std::atomic<uint64_t> learned = 0, learned_bytes = 0;  // newly known digests
  mutable std::atomic<uint64_t> written = 0;             // `learned` at the last WriteTable
  uint64_t uncached = 0;                                 // files that the digest cache lacked

  // Lays the files of all mounts over each other. `known` gives the digest of a file, if it has
  // one.
  void Fill(std::vector<SeenFile> seen,
            const std::function<std::optional<HashedDigest>(const FileEntry&)>& known);

  // The row that replaces the shared row with this number; null: none does.
  const Row* Replaced(size_t index) const {
    if (replaced.empty()) return nullptr;
    const auto found = replaced.find(static_cast<uint32_t>(index));
    return found == replaced.end() ? nullptr : &found->second;
  }
  const FileEntry& Entry(size_t index) const {
    const Row* const row = Replaced(index);
    return row != nullptr ? row->entry : rows->entry(index);
  }
  int64_t SeenAt(size_t index) const {
    const Row* const row = Replaced(index);
    return row != nullptr ? row->knowledge.seen_ns : rows->seen_ns(index);
  }
  std::optional<HashedDigest> Taken(size_t index) const;
  std::optional<Digest> Known(size_t index) const;
  Knowledge KnowledgeOf(size_t index) const;

  std::optional<size_t> IndexOf(std::string_view path) const;
  // The number of a file that can be used. NOT_FOUND: there is none; FAILED_PRECONDITION: the
  // file's own error.
  absl::StatusOr<size_t> Usable(std::string_view path) const;
  // The numbers of the first file below a folder, and of the first file after the folder.
  std::pair<size_t, size_t> RangeIn(std::string_view folder) const;

  // Takes the digest of bytes that were read. ABORTED: the file is no longer what was scanned.
  absl::Status Learn(size_t index, const Digest& digest, int64_t hashed_ns);
  // Keeps `digest` if no digest is known; `is_new` says whether so. Returns the known digest.
  HashedDigest Remember(size_t index, const HashedDigest& digest, bool& is_new);

  // A successor that shares the rows. REQUIRES: `targets` are sorted. Null: a target was neither a
  // plain file nor absent, or is not the same in `seen`, or too many rows differ; then make the
  // successor from all files.
  std::unique_ptr<SnapshotFiles> Revised(const std::vector<std::string>& targets,
                                         const std::vector<SeenFile>& seen) const;
  // True: nothing is at the path or below it, also not in a mount that another one hides.
  bool IsAbsent(std::string_view path) const;
  absl::flat_hash_map<uint32_t, Row> CopyOfReplaced() const;
  // The numbers of the rows that the base's file lacks, in order.
  std::vector<uint32_t> UnlikeBase() const GALLEY_REQUIRES(mutex);

  int64_t NowNanos() const { return absl::ToUnixNanos(clock->Now()); }

  void Count(uint64_t bytes) {
    bytes_hashed += bytes;
    ++files_hashed;
  }
};

}  // namespace galley::content
