// LoadQueue: packages that must be cooked, and wait for a worker.
//
// Order:
//   1. not alone      a package that is to run alone comes last: it waits until all else is done;
//                     spare packages come after that one, and those that are to run alone at the
//                     very end
//   2. urgency        highest first
//   3. never loaded   these reveal the graph
//   4. length         longest first, so that no long job begins when all others are done
//   5. rank           lowest first: leaves
//   6. PackageId      lowest first
// Invariant: PackageQueues::loads() holds p exactly while p is in kLoad, has no attempt, and is
// neither backing off, parked nor set aside. Parked packages are in LoadQueues of their own.
// Cost: Push, Remove, TopAtMost O(log n); Top O(1).
// Threads: none; owned by PackageQueues.
#pragma once

#include <tuple>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/packages/ranks.h"

namespace galley::director {

struct LoadOrder {
  bool runs_alone = false;
  Urgency urgency = Urgency::kNormal;
  bool was_loaded = false;
  int length = 0;  // see LengthOf
  Rank rank = 0;
};

// The class of an expected time: 0 below 32 ms, plus one for each doubling. The classes are coarse,
// so that the rank decides among similar jobs.
int LengthOf(absl::Duration expected);

class LoadQueue {
 public:
  // Adds the package, or moves it to its new place.
  void Push(PackageId package, const LoadOrder& order);
  void Remove(PackageId package);
  // REQUIRES: not empty.
  PackageId Top() const;
  Urgency TopUrgency() const;
  // The first package of at most this urgency that is not spare and need not run alone. Invalid:
  // none.
  PackageId TopAtMost(Urgency urgency) const;
  // True: the first package is spare, and so are all others.
  bool IsTopSpare() const { return !empty() && TopUrgency() == Urgency::kSpare; }
  // The number of packages that are not spare.
  size_t wanted_size() const { return size() - spare_; }
  bool Contains(PackageId package) const { return keys_.contains(package); }
  bool empty() const { return order_.empty(); }
  size_t size() const { return order_.size(); }

 private:
  // How late it comes, negated urgency and length.
  using Key = std::tuple<int, int, bool, int, Rank, PackageId>;
  static bool IsSpare(const Key& key) {
    return std::get<1>(key) == -static_cast<int>(Urgency::kSpare);
  }

  absl::btree_set<Key> order_;
  absl::flat_hash_map<PackageId, Key> keys_;
  size_t spare_ = 0;  // packages
};

}  // namespace galley::director
