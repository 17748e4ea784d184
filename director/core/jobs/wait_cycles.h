// WaitCycles: finds and breaks the cycles of waits that a new wait of a package may close.
//
// A cycle of certain waits fails all packages that are on the cycle; any other cycle is broken
// where a look-up waits.
// Threads: none; owned by its layer.
#pragma once

#include "director/core/jobs/package_progress.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/urgencies.h"
#include "director/core/packages/waits.h"

namespace galley::director {

class WaitCycles : PackagePart {
 public:
  WaitCycles(const PackageGround& ground, Urgencies& urgencies, Waits& waits,
             PackageProgress& package_progress)
      : PackagePart(ground),
        urgencies_(urgencies),
        waits_(waits),
        package_progress_(package_progress) {}

  // False: the wait closed a cycle, which was dealt with.
  bool AddWait(PackageId package, const Wait& wait);
  // True: the package is on no cycle of waits.
  bool BreakCycles(PackageId package);

 private:
  Urgencies& urgencies_;
  Waits& waits_;
  PackageProgress& package_progress_;
};

}  // namespace galley::director
