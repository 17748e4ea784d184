// CookOnlyFailures: the failures of packages that count in one cook alone (Claimant::judged,
// settled, barred, refused).
//
// Either the package does not fit with other packages of the cook, though it has results. Or it
// failed, and is tried again for another cook, while this cook keeps the failure. Or the cook
// leaves out (CookFilter) the package itself, though the cook asks for it, or something that the
// package reads.
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

  // The package fails in the cook on these platforms, since it does not fit.
  void Fail(Claimant& cook, PackageId package, PlatformMask platforms, Stage stage,
            const std::string& error);
  // The same for one package in the roots of a settled cook, whose manifest has the failure from
  // now on. False: the package gives the platform's root nothing.
  bool FailInRoot(Claimant& cook, PackageId package, PlatformIndex platform, Stage stage,
                  const std::string& error);
  // The package failed on these platforms, and is tried again for another cook.
  void Settle(Claimant& cook, PackageId package, PlatformMask platforms);
  // The package reads, on these platforms, the output of a package that the cook leaves out, or of
  // a package that failed in the cook for that reason.
  void FailForInput(Claimant& cook, PackageId package, PlatformMask platforms,
                    const std::string& error);
  // The cook asks for the package, and leaves it out: the package fails in this cook, without being
  // wanted by it. REQUIRES: Claimant::IsNever.
  void Refuse(Claimant& cook, PackageId package, const std::string& error);
  // The file of the package has another name now: the cook does not ask for the package any more.
  // REQUIRES: the cook is not settled.
  void TakeBackRefusal(Claimant& cook, PackageId package);
  // The package begins again, or leaves these cooks. Two packages may not fit with each other, so
  // all packages that failed in this way are judged again. Settled cooks are not told.
  void Forget(CookMask cooks, PackageId package);
  // Takes back the failures of all packages that have results; the next judgement may tell them
  // again.
  void TakeBack(Claimant& cook);
  // Platforms have new numbers. REQUIRES: no tally counts the packages (Lifecycle::CountEvery).
  static void Remap(Claimant& cook, const PlatformMap& map);

 private:
  using Map = absl::btree_map<PackageId, PlatformMask>;
  void Set(Map& map, PackageId package, PlatformMask platforms);
  bool IsAsJudged(const Claimant& cook, PackageId package, PlatformIndex platform) const;
  void TellFailed(Claimant& cook, PackageId package, PlatformIndex platform, Stage stage,
                  const std::string& error);

  PackageProgress& package_progress_;
};

}  // namespace galley::director
