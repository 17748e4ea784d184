#include "common/content/file_rows.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::content {
namespace {

constexpr size_t kChunk = TableFile::kRowsOfChunk;

}  // namespace

FileRows::FileRows(std::vector<Row> rows, FoldIndex folds)
    : size_(rows.size()), folds_(std::move(folds)) {
  const size_t count = (size_ + kChunk - 1) / kChunk;
  chunks_ = std::make_unique<std::atomic<Chunk*>[]>(count);
  for (size_t c = 0; c < count; ++c) {
    const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(c * kChunk);
    const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(size_, (c + 1) * kChunk));
    auto chunk =
        std::make_unique<Chunk>(std::make_move_iterator(begin), std::make_move_iterator(end));
    firsts_.push_back(chunk->front().entry.path);
    chunks_[c] = chunk.release();
  }
}

FileRows::FileRows(TableFile file) : size_(file.rows()), file_(std::move(file)) {
  chunks_ = std::make_unique<std::atomic<Chunk*>[]>(file_->chunks());
  firsts_.reserve(file_->chunks());
  for (size_t c = 0; c < file_->chunks(); ++c) firsts_.push_back(file_->FirstOf(c));
}

FileRows::~FileRows() {
  for (size_t c = 0; c < firsts_.size(); ++c) delete chunks_[c].load();
}

FileRows::Chunk& FileRows::ChunkAt(size_t chunk) const {
  std::atomic<Chunk*>& at = chunks_[chunk];
  Chunk* known = at.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  absl::StatusOr<std::vector<Row>> rows = file_->Read(chunk);
  GALLEY_CHECK(rows.ok());
  auto decoded = std::make_unique<Chunk>(*std::move(rows));
  // Two threads may decode the chunk at once; all of them get the first one's.
  if (at.compare_exchange_strong(known, decoded.get())) return *decoded.release();
  return *known;
}

Row& FileRows::At(size_t i) const { return ChunkAt(i / kChunk)[i % kChunk]; }

std::optional<HashedDigest> FileRows::known(size_t i) const {
  const Row& row = At(i);
  const base::MutexLock lock(mutex_);
  return row.knowledge.known;
}

HashedDigest FileRows::Learn(size_t i, const HashedDigest& digest, bool& is_new) {
  Row& row = At(i);
  const base::MutexLock lock(mutex_);
  is_new = !row.knowledge.known.has_value();
  if (is_new) {
    row.knowledge.known = digest;
    learned_.push_back(static_cast<uint32_t>(i));
  }
  return *row.knowledge.known;
}

std::optional<size_t> FileRows::FindFolded(std::string_view path) const {
  const std::vector<size_t> found = FindAllFolded(path);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

std::vector<size_t> FileRows::FindAllFolded(std::string_view path) const {
  const auto path_of = [this](size_t i) -> std::string_view { return entry(i).path; };
  const base::MutexLock lock(folds_mutex_);
  if (!folds_) folds_.emplace(size_, path_of);
  return folds_->FindAll(path_of, path);
}

size_t FileRows::LowerBound(std::string_view path) const {
  const auto behind = std::upper_bound(firsts_.begin(), firsts_.end(), path);
  if (behind == firsts_.begin()) return 0;
  const auto c = static_cast<size_t>(behind - firsts_.begin()) - 1;
  const Chunk& chunk = ChunkAt(c);
  const auto at =
      std::lower_bound(chunk.begin(), chunk.end(), path,
                       [](const Row& row, std::string_view key) { return row.entry.path < key; });
  return c * kChunk + static_cast<size_t>(at - chunk.begin());
}

std::vector<uint32_t> FileRows::LearnedFrom(size_t number) const {
  const base::MutexLock lock(mutex_);
  return {learned_.begin() + static_cast<std::ptrdiff_t>(number), learned_.end()};
}

size_t FileRows::learned() const {
  const base::MutexLock lock(mutex_);
  return learned_.size();
}

}  // namespace galley::content
