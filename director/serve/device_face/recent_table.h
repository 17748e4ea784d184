// RecentTable: values by digest, of which the least recently used ones go when their costs
// together are above a limit.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <list>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/digest.h"

namespace galley::director {

template <typename Value>
class RecentTable {
 public:
  explicit RecentTable(uint64_t cost_max) : cost_max_(cost_max) {}

  // Valid until the table changes; nullptr: there is none. The value counts as used.
  const Value* Find(const Digest& digest) {
    const auto found = places_.find(digest);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->value;
  }
  // Replaces a value of the same digest. A value that costs more than the limit is not kept.
  void Put(const Digest& digest, Value value, uint64_t cost) {
    Erase(digest);
    if (cost > cost_max_) return;
    entries_.push_front({.digest = digest, .value = std::move(value), .cost = cost});
    places_[digest] = entries_.begin();
    cost_ += cost;
    while (cost_ > cost_max_) Erase(Digest(entries_.back().digest));
  }
  void Erase(const Digest& digest) {
    const auto found = places_.find(digest);
    if (found == places_.end()) return;
    cost_ -= found->second->cost;
    entries_.erase(found->second);
    places_.erase(found);
  }
  // The most recently used one first.
  std::vector<Value> Values() const {
    std::vector<Value> values;
    for (const Entry& entry : entries_) values.push_back(entry.value);
    return values;
  }
  uint64_t cost() const { return cost_; }

 private:
  struct Entry {
    Digest digest;
    Value value;
    uint64_t cost = 0;
  };

  const uint64_t cost_max_;
  uint64_t cost_ = 0;
  std::list<Entry> entries_;  // the most recently used one is the first
  absl::flat_hash_map<Digest, typename std::list<Entry>::iterator> places_;  // look-up only
};

}  // namespace galley::director
