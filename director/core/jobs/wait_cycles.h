// WaitCycles: adds waits, and breaks the cycles of waits that they close.
//
// The packages on a cycle of certain waits fail. Any other cycle is broken at a look-up that waits,
// which becomes a miss.
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

  // False: the wait closed a cycle, which was broken.
  bool AddWait(PackageId package, const Wait& wait);
  // Breaks all cycles through the package. True: there was none that made it fail or miss.
  bool BreakCycles(PackageId package);

 private:
  Urgencies& urgencies_;
  Waits& waits_;
  PackageProgress& package_progress_;
};

}  // namespace galley::director
