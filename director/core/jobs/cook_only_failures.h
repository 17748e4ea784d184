// CookOnlyFailures: the packages that failed in one cook alone, while their results stand for
// others.
//
// A package may not fit in with others of the cook; or it failed, and is tried again for the sake
// of another cook, while this one keeps the failure.
// Threads: none; owned by Core.
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
  // The package begins anew, or leaves these cooks: whether packages fit in is judged anew, of all
  // that failed so, since each stands against another.
  void Forget(CookMask cooks, PackageId package);
  // The failures of all packages that are done by themselves are taken back: they are judged anew,
  // and the next judgement may tell them again.
  void TakeBack(Claimant& cook);
  // Roots of the cook are built anew, from packages that changed.
  void BeginRound(Claimant& cook);
  // Platforms have new numbers: what was not explored yet may have stood for other ones.
  // REQUIRES: no tally counts the packages (Lifecycle::CountEvery).
  static void Remap(Claimant& cook, const PlatformMap& map);

 private:
  using Map = absl::btree_map<PackageId, PlatformMask>;
  void Set(Map& map, PackageId package, PlatformMask platforms);

  PackageProgress& package_progress_;
};

}  // namespace galley::director
