// WaitCycles: a package that comes to wait for another may close a cycle of waits.
//
// A cycle of certain waits fails all packages that are on it; any other cycle is broken where a
// look-up waits.
// Threads: none; owned by Core.
#pragma once

#include "director/core/part.h"

namespace galley::director {

class WaitCycles : Part {
 public:
  explicit WaitCycles(Core& core) : Part(core) {}

  // False: the wait closed a cycle, which was dealt with.
  bool AddWait(PackageId package, const Wait& wait);
  // True: the package is on no cycle of waits.
  bool BreakCycles(PackageId package);
};

}  // namespace galley::director
