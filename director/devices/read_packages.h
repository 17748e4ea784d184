// RecentPackages: the packages that a session has read, and PackageCounts: how many sessions of an
// audience have read each.
//
// Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "director/core/ids.h"

namespace galley::devices {

// Bounded: a package that is new takes the place of the one that was first read longest ago.
class RecentPackages {
 public:
  struct Noted {
    bool is_new = false;
    std::optional<director::PackageId> forgotten;
  };
  // REQUIRES: packages_max > 0.
  Noted Note(director::PackageId package, size_t packages_max) {
    Noted noted{.is_new = known_.insert(package).second};
    if (!noted.is_new) return noted;
    order_.push_back(package);
    if (order_.size() <= packages_max) return noted;
    noted.forgotten = order_.front();
    known_.erase(order_.front());
    order_.pop_front();
    return noted;
  }
  // In the order in which they were first read.
  const std::deque<director::PackageId>& packages() const { return order_; }

 private:
  std::deque<director::PackageId> order_;
  absl::flat_hash_set<director::PackageId> known_;  // look-up only
};

class PackageCounts {
 public:
  void Add(director::PackageId package) { ++counts_[package]; }
  // REQUIRES: the package was added.
  void Remove(director::PackageId package) {
    const auto at = counts_.find(package);
    if (--at->second == 0) counts_.erase(at);
  }
  bool Has(director::PackageId package) const { return counts_.contains(package); }

 private:
  absl::flat_hash_map<director::PackageId, uint32_t> counts_;  // look-up only
};

}  // namespace galley::devices
