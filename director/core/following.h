// Following: of equal work one package's platform leads, the others follow (equal_work.h).
//
// Forced work is not looked up, so the work that equals it is not known: it neither leads nor
// follows.
#pragma once

#include <vector>

#include "director/core/part.h"

namespace galley::director {

class Following : Part {
 public:
  explicit Following(Core& core) : Part(core) {}

  void FollowEqualWork(PackageId package);
  void LeadEqualWork(PackageId package);
  // The packages that this one follows.
  std::vector<PackageId> LeadersOf(PackageId package) const;
  void LookUpWithInputs(PackageId package);
  // The equal work that they waited for is over. Returns units.
  size_t GoOnWithFollowers(size_t units_max);
  // Somebody waits for the package's result.
  bool IsAwaited(PackageId package) const;
};

}  // namespace galley::director
