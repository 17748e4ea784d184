// PackageProgress: how a package gets on: the package's state follows from the phases of its
// platforms.
//
// A platform that is done or has failed is settled; when all wanted platforms are settled, the
// package is over. PackageProgress has no state of its own.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/equal_work_followers.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/waits.h"

namespace galley::director {

class PackageProgress : PackagePart {
 public:
  PackageProgress(const PackageGround& ground, Attempts& attempts,
                  ResumedAttempts& resumed_attempts, EqualWorkFollowers& equal_work_followers,
                  Waits& waits)
      : PackagePart(ground),
        attempts_(attempts),
        resumed_attempts_(resumed_attempts),
        equal_work_followers_(equal_work_followers),
        waits_(waits) {}

  // Decides the package's state. Call it after any change that decides the state.
  void Advance(PackageId package);
  // The platform has its durable result.
  void Settle(PackageId package, PlatformIndex platform);
  // Tells these cooks that the platform is done. REQUIRES: it is done.
  void TellDone(PackageId package, PlatformIndex platform, CookMask cooks);
  // Decides how the package ended, from how its platforms ended.
  void Conclude(PackageId package);
  // Nothing new begins in the cook; jobs that only this cook wants end.
  void StopCook(Claimant& cook, Claimant::Ending how);
  // Fails the platforms of `platforms` that have not failed yet. The caller calls Advance.
  void FailPlatforms(PackageId package, PlatformMask platforms, Stage stage,
                     const std::string& error, const std::string& log,
                     FailureCause cause = FailureCause::kProject, AttemptId attempt = 0);
  void FailPackage(PackageId package, Stage stage, const std::string& error);
  // Tells these cooks that the package failed on these platforms: once, when the platforms are all
  // that the cook wants.
  void NoteFailed(PackageId package, PlatformMask platforms, Stage stage, const std::string& error,
                  CookMask cooks, const std::string& log = "",
                  FailureCause cause = FailureCause::kProject, AttemptId attempt = 0);
  // Only cooks that are over or ending want the package: the package is attempted no longer.
  void GiveUp(PackageId package);
  // The package waits for a late change. REQUIRES: PendingChanges::IsHeld, and the package is in
  // the works.
  void Hold(PackageId package);
  // The package waits until `path` was scanned again. An attempt that was handed over before the
  // last change of the file was known tells nothing new.
  void WaitForScan(PackageId package, const std::string& path, uint32_t attempt_epoch);
  // The package waits no longer; the scan goes on, for others. REQUIRES: the package is in the
  // works.
  void StopWaitingForScan(PackageId package);

  // Followers whose lead is over go on. Returns the units of work.
  size_t GoOnWithFollowers(size_t units_max);
  // Cooks that were told of more own faults of the package than `own_faults` hear that the faults
  // are fewer.
  void NoteForgiven(PackageId package, uint32_t own_faults);

 private:
  void Finish(PackageId package);
  void TakeBack(PackageId package);
  ResultId VerdictOf(PackageId package, PlatformMask platforms, FailureCause cause) const;
  void NoteFailedTo(CookMask cooks, PlatformMask wanted, PlatformMask platforms,
                    PackageFailed failed);

  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
  EqualWorkFollowers& equal_work_followers_;
  Waits& waits_;
};

}  // namespace galley::director
