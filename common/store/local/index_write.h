// IndexWrite: one write to an IndexDatabase. The changes and the counters that follow from them
// are written together, all or none.
//
// Errors: as IndexDatabase.
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "common/store/local/index.h"
#include "common/store/local/index_batch.h"
#include "common/store/local/index_database.h"
#include "rocksdb/write_batch.h"

namespace galley::store {

class IndexWrite {
 public:
  // `counters`: the counters of the index before the write. `db` must outlive this object.
  IndexWrite(IndexDatabase& db, const IndexCounters& counters) : db_(db), counters_(counters) {}

  // Adds changes to the write. REQUIRES: `changes` live until Commit.
  absl::Status Add(std::span<const IndexChange> changes);
  // Writes the added changes, the counters and the epochs. nullopt: keeps the stored epoch of the
  // last dispute.
  absl::Status Commit(uint64_t epoch, std::optional<uint64_t> disputed_epoch);
  const IndexCounters& counters() const { return counters_; }

 private:
  using Value = std::optional<std::string_view>;  // nullopt: no value

  absl::Status AddOne(const IndexChange& change, Value there);
  // Returns the value of the key after the change. `there` is the value before it. The returned
  // view is valid as long as `change` and this object live.
  absl::StatusOr<Value> NewValue(const IndexChange& change, Value there);
  absl::StatusOr<Value> NewSets(const IndexChange& change, Value there);
  std::string_view Keep(std::string value) { return made_.emplace_back(std::move(value)); }
  // Counts a value that is added (`sign` 1) or removed (`sign` UINT64_MAX, which subtracts 1).
  absl::Status Count(std::string_view key, std::string_view value, uint64_t sign);

  IndexDatabase& db_;
  IndexCounters counters_;
  rocksdb::WriteBatch batch_;
  // The values that `batch_` gives to its keys. Order does not matter: the map is only used for
  // look-ups.
  absl::flat_hash_map<std::string_view, Value> changed_;
  std::deque<std::string> made_;
};

}  // namespace galley::store
