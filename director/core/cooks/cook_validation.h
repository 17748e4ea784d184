// CookValidation: judges the references and warnings of packages: when all packages are done, and
// with fail_fast as soon as a package's references are known. CookOnlyFailures keeps the failures.
// Threads: none; owned by its layer.
#pragma once

#include <vector>

#include "absl/container/btree_map.h"
#include "director/core/ids.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/packages/package_data.h"
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
  // Fails the packages whose results were made of an output that the cook leaves out (CookFilter),
  // directly or through other packages: another cook had these results made. `wanted`: the packages
  // that the cook wants.
  void JudgeInputs(Claimant& cook, const std::vector<PackageId>& wanted);
  // A hard reference to no package fails the package in this cook; a soft one is a warning. A
  // warning that the rules make an error fails it, too. The same is true of a reference to a
  // package that the cook leaves out.
  void Judge(Claimant& cook, PackageId package);

 private:
  // Reader: a result that was made of an output of some package.
  struct Reader {
    PackageId package;
    PlatformIndex platform = 0;
  };
  using ReadersOf = absl::btree_map<PackageId, std::vector<Reader>>;  // by that package

  ReadersOf FindReaders(const Claimant& cook, const std::vector<PackageId>& wanted) const;
  void AddUnlisted(const Claimant& cook, PackageId package, std::vector<Problem>& problems) const;
  void AddNever(const Claimant& cook, PackageId package, std::vector<Problem>& problems) const;

  CookOnlyFailures& cook_only_failures_;
  Warnings& warnings_;
};

}  // namespace galley::director
