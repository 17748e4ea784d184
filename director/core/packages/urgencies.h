// Urgencies: a package that another package waits for, or whose equal work it follows, is as urgent
// as the waiting package, and has the chain of the packages that wait.
// Threads: none; owned by its layer.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "director/core/packages/package_part.h"

namespace galley::director {

class Urgencies : PackagePart {
 public:
  explicit Urgencies(const PackageGround& ground) : PackagePart(ground) {}

  // The packages that the package waits for become as urgent.
  void RaiseUrgency(PackageId package, Urgency urgency);
  void LengthenChain(PackageId package, absl::Duration chain);
  // The packages whose equal work the package follows.
  std::vector<PackageId> LeadersOf(PackageId package) const;
};

}  // namespace galley::director
