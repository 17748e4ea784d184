// CookValidation: judges how packages fit together: when all is cooked, and with fail_fast as soon
// as a package's references are known. CookOnlyFailures keeps the failures.
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

  // Explores packages anew that an older catalog explored. False: there is nothing to explore.
  bool Reexplore(Claimant& cook);
  // A hard reference that leads nowhere fails the package, though its results stand; a soft one is
  // a warning.
  void Judge(Claimant& cook, PackageId package);

 private:
  CookOnlyFailures& cook_only_failures_;
  Warnings& warnings_;
};

}  // namespace galley::director
