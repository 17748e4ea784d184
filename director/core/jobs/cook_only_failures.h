// CookOnlyFailures: the packages that failed in one cook alone, while their results stand for other
// cooks.
//
// A package may not fit in with other packages of the cook. Or a package failed, and is tried again
// for the sake of another cook, while this cook keeps the failure.
// Threads: none; owned by its layer.
#pragma once

#include <string>

#include "director/core/jobs/package_progress.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/platforms.h"

namespace galley::director {

class CookOnlyFailures : PackagePart {
 public:
  CookOnlyFailures(const PackageGround& ground, PackageProgress& package_progress)
      : PackagePart(ground), package_progress_(package_progress) {}

  // The package fails in the cook on these platforms.
  void Fail(Claimant& cook, PackageId package, PlatformMask platforms, Stage stage,
            const std::string& error);
  // The package failed on these platforms, and is tried again for the sake of another cook.
  void Settle(Claimant& cook, PackageId package, PlatformMask platforms);
  // The package begins anew, or leaves these cooks. Since failures of fitting in stand against each
  // other, all packages that failed so are judged anew.
  void Forget(CookMask cooks, PackageId package);
  // Takes back the failures of all packages whose own results are there: the packages are judged
  // anew, and the next judgement may tell the failures again.
  void TakeBack(Claimant& cook);
  // Roots of the cook are built anew, from packages that changed.
  void BeginRound(Claimant& cook);
  // Platforms have new numbers: a failure that was not explored yet may have stood for other
  // platforms. REQUIRES: no tally counts the packages (Lifecycle::CountEvery).
  static void Remap(Claimant& cook, const PlatformMap& map);

 private:
  using Map = absl::btree_map<PackageId, PlatformMask>;
  void Set(Map& map, PackageId package, PlatformMask platforms);

  PackageProgress& package_progress_;
};

}  // namespace galley::director
