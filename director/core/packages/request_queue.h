// RequestQueue: packages that are ready to be looked up.
//
// Order: urgency, then first come, first served.
// Invariant: holds p exactly while p is in kRequest, has begun, is not blocked (IsBlocked), has no
// attempt, and has a platform in kToLookUp (kept by Lifecycle).
// Cost: Push, Remove O(log n).
// Threads: none; owned by PackageQueues.
#pragma once

#include <cstdint>
#include <tuple>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "director/core/events.h"
#include "director/core/ids.h"

namespace galley::director {

class RequestQueue {
 public:
  // A package that is in the queue already keeps its place among packages of its urgency.
  void Push(PackageId package, Urgency urgency);
  void Remove(PackageId package);
  // REQUIRES: not empty.
  PackageId Top() const;
  bool Contains(PackageId package) const { return keys_.contains(package); }
  bool empty() const { return order_.empty(); }
  size_t size() const { return order_.size(); }

 private:
  using Key = std::tuple<int, uint64_t, PackageId>;  // negated urgency, arrival
  absl::btree_set<Key> order_;
  absl::flat_hash_map<PackageId, Key> keys_;
  uint64_t arrivals_ = 0;
};

}  // namespace galley::director
