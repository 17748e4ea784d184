// SaveQueue: packages that wait for a grant of resources. Each resource group (Grants) has a line,
// so that a group whose resources are all taken does not hold up the others.
//
// Order in a line:
//   1. urgency   highest first
//   2. chain     longest first: the expected cost of the package, and of the longest chain of
//                packages that waits for the package
//   3. rank      lowest first
//   4. name
// Invariant: holds p exactly while p is in kSaveStalled and not set aside (kept by Lifecycle).
// Cost: Push, Remove O(log n); BestAtMost O(groups log n).
// Threads: none; owned by PackageQueues.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/packages/ranks.h"

namespace galley::director {

struct SaveOrder {
  Urgency urgency = Urgency::kNormal;
  absl::Duration chain;
  Rank rank = 0;
  std::string_view name;  // must outlive the package's place in the queue
};

class SaveQueue {
 public:
  // Adds the package, or moves it to its new place.
  void Push(PackageId package, uint32_t group, const SaveOrder& order);
  void Remove(PackageId package);
  // The first package of at most this urgency, in the lines for which `is_free(group, first)` is
  // true; invalid: none.
  template <typename IsFree>
  PackageId BestAtMost(Urgency urgency, IsFree is_free) const {
    const Key from{-static_cast<int>(urgency), -absl::InfiniteDuration(), 0, "", PackageId()};
    const Key* best = nullptr;
    for (const auto& [group, line] : lines_) {
      const auto first = line.lower_bound(from);
      if (first == line.end() || !is_free(group, std::get<4>(*first))) continue;
      if (best == nullptr || *first < *best) best = &*first;
    }
    return best == nullptr ? PackageId() : std::get<4>(*best);
  }
  // `visit(group, first, size)` for each line.
  template <typename Visit>
  void ForEachLine(Visit visit) const {
    for (const auto& [group, line] : lines_) visit(group, std::get<4>(*line.begin()), line.size());
  }
  bool Contains(PackageId package) const { return keys_.contains(package); }
  bool empty() const { return keys_.empty(); }
  size_t size() const { return keys_.size(); }

 private:
  // Urgency and chain are negated.
  using Key = std::tuple<int, absl::Duration, Rank, std::string_view, PackageId>;
  absl::btree_map<uint32_t, absl::btree_set<Key>> lines_;  // no line is empty
  absl::flat_hash_map<PackageId, std::pair<uint32_t, Key>> keys_;
};

}  // namespace galley::director
