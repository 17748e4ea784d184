// Instigators: why each package is in the cook. All reasons are kept, in the order found, as
// reverse edges with their kinds; following the referencers leads to the root causes.
//
// Cost: Add O(1).   Threads: none; owned by CookCore.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "director/core/cook_core.h"
#include "director/core/ids.h"

namespace galley::director {

class Instigators {
 public:
  // False: known already.
  bool Add(PackageId package, const InstigatorView& why);
  std::span<const InstigatorView> Of(PackageId package) const;
  void Clear();

 private:
  std::vector<std::vector<InstigatorView>> reasons_;                                 // by package
  absl::flat_hash_set<std::tuple<PackageId, PackageId, InstigatorCategory>> known_;  // look-up only
};

// What a package is asked for with.
Urgency UrgencyOf(InstigatorCategory category);
// "HardDependency"
std::string_view CategoryName(InstigatorCategory category);

}  // namespace galley::director
