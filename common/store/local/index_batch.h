// RocksBatch: the changes of an IndexBatch, for one IndexDatabase. It keeps the index's counters
// true, and knows what it has changed so far.
//
// Errors: as IndexDatabase.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/store/local/index.h"
#include "common/store/local/index_database.h"
#include "rocksdb/write_batch.h"

namespace galley::store {

class RocksBatch final : public IndexBatch {
 public:
  RocksBatch(IndexDatabase& db, const IndexCounters& counters) : db_(db), counters_(counters) {}

  absl::Status SetBlob(const Digest& digest, const BlobLocation& location) override;
  absl::Status SetBlobs(std::span<const LocatedBlob> blobs) override;
  absl::Status RemoveBlob(const Digest& digest) override;
  absl::Status SetResults(std::span<const LocatedResult> results) override;
  absl::Status RemoveResult(const Digest& action_key) override;
  absl::Status SetActionResult(const Digest& key, const RecordPlace& place) override;
  absl::Status RemoveActionResult(const Digest& key) override;
  absl::Status StampResult(const Digest& action_key, uint32_t hours) override;
  absl::Status StampActionResult(const Digest& key, uint32_t hours) override;
  absl::Status AddObservationSets(std::span<const LocatedSet> added) override;
  absl::Status RemoveObservationSet(const Digest& weak_key, const RecordPlace& place) override;
  absl::Status MoveObservationSet(const Digest& weak_key, const RecordPlace& from,
                                  const RecordPlace& to) override;
  absl::Status SetRoot(const PublishedRoot& root, const RecordPlace& place) override;
  absl::Status SetSegment(uint64_t number, const SegmentState& state) override;
  absl::Status RemoveSegment(uint64_t number) override;
  absl::Status SetEpoch(uint64_t epoch) override;
  std::optional<uint64_t> epoch() const override { return epoch_; }
  void SetDisputed() override { is_disputing_ = true; }
  bool is_disputing() const { return is_disputing_; }
  absl::Status NoteDamage(const RecordPlace& place) override;
  size_t size() const override { return changes_; }

  absl::Status WriteTo(uint64_t epoch, std::optional<uint64_t> disputed_epoch);
  const IndexCounters& counters() const { return counters_; }

  // Makes the same changes here.
  absl::Status Add(const RocksBatch& other);

 private:
  // Keeps the counters true when `value` comes (sign 1) or goes (-1).
  absl::Status Count(std::string_view key, std::string_view value, uint64_t sign);
  static bool IsCounted(std::string_view key);
  absl::Status Replace(std::string key, std::optional<std::string> value);
  absl::Status Replace(std::string key, const std::optional<std::string_view>& there,
                       std::optional<std::string> value);
  // For each digest and what it is given, the value becomes what `value_of` makes of that and of
  // the value there (nullopt: none). What is there is asked for together.
  template <typename Given, typename ValueOf>
  absl::Status ReplaceEach(char kind, std::span<const std::pair<Digest, Given>> all,
                           const ValueOf& value_of);
  absl::Status Stamp(std::string key, uint32_t hours);
  absl::StatusOr<std::vector<SetPlace>> Sets(const Digest& weak_key);
  absl::Status ReplaceSets(const Digest& weak_key, const std::vector<SetPlace>& sets);
  absl::StatusOr<std::optional<std::string>> Get(const std::string& key);
  absl::Status Set(std::string key, std::optional<std::string> value);

  IndexDatabase& db_;
  rocksdb::WriteBatch batch_;
  // The value that `batch_` gives to each key that it names. Their order does not matter: they are
  // looked up, and added to another batch.
  absl::flat_hash_map<std::string, std::optional<std::string>> changed_;
  IndexCounters counters_;
  std::optional<uint64_t> epoch_;
  bool is_disputing_ = false;
  size_t changes_ = 0;
};

}  // namespace galley::store
