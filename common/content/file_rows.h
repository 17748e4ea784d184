// FileRows: the files of a snapshot, sorted by path, with the knowledge of each. Rows of a table's
// file are decoded when they are first used. A snapshot and a successor in which only bytes of
// files changed may share rows (Snapshot::Refresh).
//
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/mutex.h"
#include "common/content/overlay.h"
#include "common/content/table.h"

namespace galley::content {

class FileRows {
 public:
  // REQUIRES: sorted by path, unique.
  FileRows(std::vector<Row> rows, FoldIndex folds);
  // Takes the rows of `file`. A chunk that cannot be decoded ends the process: the checksum of the
  // file was right, so the writer of the file has a bug.
  explicit FileRows(TableFile file);
  ~FileRows();

  size_t size() const { return size_; }
  const FileEntry& entry(size_t i) const { return At(i).entry; }
  int64_t seen_ns(size_t i) const { return At(i).knowledge.seen_ns; }
  bool has_clash(size_t i) const { return At(i).knowledge.has_clash; }
  std::optional<HashedDigest> known(size_t i) const;
  // Keeps `digest` if no digest is known; `is_new` says whether so. Returns the known digest.
  HashedDigest Learn(size_t i, const HashedDigest& digest, bool& is_new);

  // The first file whose path equals `path` but for case and Unicode form. The first call reads all
  // files to make the index.
  std::optional<size_t> FindFolded(std::string_view path) const;
  // Returns every such file, sorted by path. Cost: as FindFolded.
  std::vector<size_t> FindAllFolded(std::string_view path) const;
  // The number of the first file whose path is not before `path`.
  size_t LowerBound(std::string_view path) const;

  // The files whose digests were learned, in the order of learning, without the first `number`.
  std::vector<uint32_t> LearnedFrom(size_t number) const;
  size_t learned() const;

 private:
  using Chunk = std::vector<Row>;
  Row& At(size_t i) const;
  Chunk& ChunkAt(size_t chunk) const;

  size_t size_ = 0;
  std::optional<TableFile> file_;
  std::vector<std::string_view> firsts_;                   // the first path of each chunk
  mutable std::unique_ptr<std::atomic<Chunk*>[]> chunks_;  // null: not decoded yet
  mutable base::Mutex mutex_;                              // guards Knowledge::known of all rows
  std::vector<uint32_t> learned_ GALLEY_GUARDED_BY(mutex_);
  mutable base::Mutex folds_mutex_;
  mutable std::optional<FoldIndex> folds_ GALLEY_GUARDED_BY(folds_mutex_);
};

}  // namespace galley::content
