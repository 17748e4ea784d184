// Following: of equal work one package's platform leads, the others follow (equal_work.h).
//
// Forced work is not looked up, so the work that equals it is not known: it neither leads nor
// follows.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class Following : Part {
 public:
  explicit Following(Core& core) : Part(core) {}

  void FollowEqualWork(PackageId package);
  void LeadEqualWork(PackageId package);
  void LookUpWithInputs(PackageId package);
  // Somebody waits for the package's result.
  bool IsAwaited(PackageId package) const;
};

}  // namespace galley::director
