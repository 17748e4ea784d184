// JournalChanges: the changes of one write to the journal's entries.
//
// Threads: one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace galley::director {

class JournalChanges {
 public:
  struct Change {
    std::string key;
    std::optional<std::string> value;  // nullopt: removes the entry
  };

  void Put(std::string key, std::string value) {
    changes_.push_back({std::move(key), std::move(value)});
  }
  void Delete(std::string key) { changes_.push_back({std::move(key), std::nullopt}); }
  void PutIf(bool is_there, std::string key, std::string value) {
    is_there ? Put(std::move(key), std::move(value)) : Delete(std::move(key));
  }

  bool empty() const { return changes_.empty(); }
  // Returns the approximate size of the write, so that its buffer need not grow.
  size_t bytes() const {
    size_t sum = 0;
    for (const Change& change : changes_)
      sum += change.key.size() + (change.value ? change.value->size() : 0) + kRecordBytes;
    return sum;
  }

  // Returns the changes in the order of their keys: RocksDB's memtable searches for a key from the
  // place of the previous key, which is near if keys are sorted. The later of two changes of one
  // key comes later, and wins.
  std::vector<const Change*> InOrder() const {
    std::vector<const Change*> sorted;
    sorted.reserve(changes_.size());
    for (const Change& change : changes_) sorted.push_back(&change);
    std::ranges::sort(sorted, [](const Change* a, const Change* b) {
      const int order = a->key.compare(b->key);
      return order < 0 || (order == 0 && a < b);
    });
    return sorted;
  }

 private:
  static constexpr size_t kRecordBytes = 12;  // a kind and two lengths
  std::vector<Change> changes_;
};

}  // namespace galley::director
