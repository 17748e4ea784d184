// JournalChanges: the changes of one write to the journal's database.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/rocks/rocks.h"
#include "rocksdb/write_batch.h"

namespace galley::director {

// JournalChanges go to RocksDB in the order of their keys: its memtable finds the place of a key
// from the place of the key before, which is near when keys are sorted, and packages of a group are
// often of one folder.
class JournalChanges {
 public:
  void Put(std::string key, std::string value) {
    changes_.push_back({std::move(key), std::move(value), false});
  }
  void Delete(std::string key) { changes_.push_back({std::move(key), {}, true}); }

  // The approximate size of the write, so that it is not moved while it grows.
  size_t bytes() const {
    size_t sum = 0;
    for (const Change& change : changes_)
      sum += change.key.size() + change.value.size() + kRecordBytes;
    return sum;
  }

  absl::Status AppendTo(rocksdb::WriteBatch& batch) const {
    std::vector<const Change*> sorted;
    sorted.reserve(changes_.size());
    for (const Change& change : changes_) sorted.push_back(&change);
    // The later of two changes with one key holds.
    std::sort(sorted.begin(), sorted.end(), [](const Change* a, const Change* b) {
      const int order = a->key.compare(b->key);
      return order < 0 || (order == 0 && a < b);
    });
    for (const Change* change : sorted) {
      RETURN_IF_ERROR(rocks::ToStatus(
          change->is_deleted ? batch.Delete(change->key) : batch.Put(change->key, change->value),
          "writing the journal"));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr size_t kRecordBytes = 12;  // its kind and two lengths
  struct Change {
    std::string key, value;
    bool is_deleted;
  };
  std::vector<Change> changes_;
};

}  // namespace galley::director
