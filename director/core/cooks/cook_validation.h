// CookValidation: judges whether the references of packages lead to packages, and which warnings
// are errors. A package is judged when all is cooked; with fail_fast, as soon as its references are
// known. CookOnlyFailures keeps the failures.
// Threads: none; owned by its layer.
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

  // Puts packages that were explored by an older catalog on the agenda, so that they are explored
  // again. False: the agenda has nothing for this cook.
  bool Reexplore(Claimant& cook);
  // A hard reference that leads nowhere fails the package, though its results stand; a soft one is
  // a warning.
  void Judge(Claimant& cook, PackageId package);

 private:
  CookOnlyFailures& cook_only_failures_;
  Warnings& warnings_;
};

}  // namespace galley::director
