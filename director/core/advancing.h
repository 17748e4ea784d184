// Advancing: how a package gets on: its state follows from the phases of its platforms.
//
// A platform that is done or has failed is settled; when all wanted ones are, the package is over.
// Stateless.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class Advancing : Part {
 public:
  explicit Advancing(Core& core) : Part(core) {}

  // Decides the package's state, when anything changed that decides it.
  void Advance(PackageId package);
  // A platform has its durable result.
  void Settle(PackageId package, PlatformIndex platform);
  // Tells these cooks so. REQUIRES: it is done.
  void TellDone(PackageId package, PlatformIndex platform, CookMask cooks);
  // How the package ended, from how its platforms did.
  void Conclude(PackageId package);
  // Fails those of `platforms` that have not failed yet. The caller calls Advance.
  void FailPlatforms(PackageId package, PlatformMask platforms, Stage stage,
                     const std::string& error, const std::string& log,
                     FailureCause cause = FailureCause::kProject, AttemptId attempt = 0);
  void FailPackage(PackageId package, Stage stage, const std::string& error);
  // Tells these cooks that the package failed on these platforms: once, when they are all that the
  // cook wants.
  void NoteFailed(PackageId package, PlatformMask platforms, Stage stage, const std::string& error,
                  CookMask cooks, const std::string& log = "",
                  FailureCause cause = FailureCause::kProject, AttemptId attempt = 0);
  PlatformMask InPhase(PackageId package, Phase phase) const;
  // All wanted platforms are done or have failed.
  bool IsAllSettled(PackageId package) const;

 private:
  PlatformMask Wanted(PackageId package) const;
  void Finish(PackageId package);
  void TakeBack(PackageId package);
  ResultId VerdictOf(PackageId package, PlatformMask platforms, FailureCause cause) const;
  void NoteFailedTo(CookMask cooks, PlatformMask wanted, PlatformMask platforms,
                    PackageFailed failed);
};

}  // namespace galley::director
