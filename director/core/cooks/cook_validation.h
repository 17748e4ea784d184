// CookValidation: judges the references and warnings of packages: when all packages are done, and
// with fail_fast as soon as a package's references are known. CookOnlyFailures keeps the failures.
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

  // Has packages explored again that were explored by an older catalog. False: there are none.
  bool Reexplore(Claimant& cook);
  // A hard reference to no package fails the package in this cook; a soft one is a warning. A
  // warning that the rules make an error fails it, too.
  void Judge(Claimant& cook, PackageId package);

 private:
  CookOnlyFailures& cook_only_failures_;
  Warnings& warnings_;
};

}  // namespace galley::director
