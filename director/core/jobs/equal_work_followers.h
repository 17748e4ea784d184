// EqualWorkFollowers: decides which packages follow and lead equal work (equal_work.h).
//
// Forced work is not looked up, so its WorkId is unknown: it neither leads nor follows.
#pragma once

#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/urgencies.h"

namespace galley::director {

class EqualWorkFollowers : PackagePart {
 public:
  EqualWorkFollowers(const PackageGround& ground, ResumedAttempts& resumed_attempts,
                     Urgencies& urgencies)
      : PackagePart(ground), resumed_attempts_(resumed_attempts), urgencies_(urgencies) {}

  void FollowEqualWork(PackageId package);
  void LeadEqualWork(PackageId package);
  void LookUpWithInputs(PackageId package);
  // True: a package or a person waits for the package's result.
  bool IsAwaited(PackageId package) const;

 private:
  ResumedAttempts& resumed_attempts_;
  Urgencies& urgencies_;
};

}  // namespace galley::director
