// WaitEvaluation: decides how a package goes on when a package that it waits for has changed: a
// cooked input, or its generator, which may be over or list the package by now.
// Threads: none; owned by its layer.
#pragma once

#include "director/core/jobs/claims.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/wait_cycles.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/waits.h"

namespace galley::director {

class WaitEvaluation : PackagePart {
 public:
  struct Deps {
    Waits& waits;
    PackageProgress& package_progress;
    CookOnlyFailures& cook_only_failures;
    Claims& claims;
    WaitCycles& wait_cycles;
  };
  WaitEvaluation(const PackageGround& ground, const Deps& deps)
      : PackagePart(ground), deps_(deps) {}

  void EvaluateWaits(PackageId package);
  void EvaluateGenerator(PackageId package);
  void WaitForGenerator(PackageId package, PackageId generator);
  // The package reads the output of `input` on this platform: the package fails alone in those of
  // its cooks that leave the input out.
  void FailWhereNever(PackageId package, PlatformIndex platform, PackageId input);
  // The package's generator is over and does not list the package: it is skipped in cooks where the
  // generator failed, fails in cooks that select it or need its output or list, and leaves the
  // others.
  void Unlisted(PackageId package, PackageId generator);

 private:
  bool IsListAwaited(PackageId package) const;
  void WantAgain(PackageId on, PackageId waiter, CookMask cooks);

  const Deps deps_;
};

}  // namespace galley::director
