// PackageProgress: moves a package on. The package's state follows from the phases of its
// platforms.
//
// A platform that is done or has failed is *settled*. When all wanted platforms are settled, the
// package is over. PackageProgress has no state of its own.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/equal_work_followers.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/kept_failures.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/waits.h"

namespace galley::director {

class PackageProgress : PackagePart {
 public:
  PackageProgress(const PackageGround& ground, KeptFailures& kept_failures, Attempts& attempts,
                  ResumedAttempts& resumed_attempts, EqualWorkFollowers& equal_work_followers,
                  Waits& waits)
      : PackagePart(ground),
        kept_failures_(kept_failures),
        attempts_(attempts),
        resumed_attempts_(resumed_attempts),
        equal_work_followers_(equal_work_followers),
        waits_(waits) {}

  // Sets the package's state. Call it after any change on which the state depends.
  void Advance(PackageId package);
  // The platform has a durable result: tells the cooks, and wakes the packages that wait for it.
  void Settle(PackageId package, PlatformIndex platform);
  // Tells these cooks that the platform is done. REQUIRES: it is done.
  void TellDone(PackageId package, PlatformIndex platform, CookMask cooks);
  // Sets the package's outcome, from the phases of its platforms.
  void Conclude(PackageId package);
  // Stops the cook: nothing new begins in it, and jobs that only this cook wants are cancelled.
  void StopCook(Claimant& cook, Claimant::Ending how);
  // Fails those wanted platforms in `platforms` that have not failed yet. The caller calls Advance.
  void FailPlatforms(PackageId package, PlatformMask platforms, Stage stage,
                     const std::string& error, const std::string& log,
                     FailureCause cause = FailureCause::kProject, AttemptId attempt = 0);
  void FailPackage(PackageId package, Stage stage, const std::string& error);
  // Tells these cooks, and asks, that the package failed on these platforms. A cook that wants no
  // other platform gets one notice for all.
  void NoteFailed(PackageId package, PlatformMask platforms, Stage stage, const std::string& error,
                  CookMask cooks, const std::string& log = "",
                  FailureCause cause = FailureCause::kProject, AttemptId attempt = 0);
  // No active cook wants the package: it is not attempted any more.
  void GiveUp(PackageId package);
  // An attempt of `attempt_epoch` found that `path` changed: the package waits for a scan of the
  // file, unless the change is known already.
  void WaitForScan(PackageId package, const std::string& path, uint32_t attempt_epoch);
  // The package does not wait for a scan any more. REQUIRES: the package is in the works.
  void StopWaitingForScan(PackageId package);

  // Followers whose lead has ended go on. Returns the units of work.
  size_t GoOnWithFollowers(size_t units_max);
  // If the package has more own faults than `own_faults`, tells its cooks that only so many count.
  void NoteForgiven(PackageId package, uint32_t own_faults);

 private:
  void Finish(PackageId package);
  void TakeBack(PackageId package);
  ResultId VerdictOf(PackageId package, PlatformMask platforms, FailureCause cause) const;
  void NoteFailedTo(CookMask cooks, PlatformMask wanted, PlatformMask platforms,
                    PackageFailed failed);

  KeptFailures& kept_failures_;
  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
  EqualWorkFollowers& equal_work_followers_;
  Waits& waits_;
};

}  // namespace galley::director
