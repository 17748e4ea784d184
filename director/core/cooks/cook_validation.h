// CookValidation: packages are judged for how they fit together: when all is cooked, and with
// fail_fast as soon as their references are known. What comes of it is kept by CookOnlyFailures.
// Threads: none; owned by Core.
#pragma once

#include "director/core/jobs/cook_only_failures.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/warnings.h"

namespace galley::director {

class CookValidation : PackagePart {
 public:
  CookValidation(const PackageGround& ground, CookOnlyFailures& cook_only_failures,
                 Warnings& warnings)
      : PackagePart(ground), cook_only_failures_(cook_only_failures), warnings_(warnings) {}

  // References are those of the last catalog as a whole. False: nothing is to be done for it.
  bool Reexplore(Claimant& cook);
  // A hard reference that leads nowhere fails the package, though its results stand; a soft one is
  // a warning.
  void Judge(Claimant& cook, PackageId package);

 private:
  CookOnlyFailures& cook_only_failures_;
  Warnings& warnings_;
};

}  // namespace galley::director
