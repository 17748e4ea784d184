// Tally: what a cook has come to so far, in numbers.
//
// A Tally is the sum of what each package that the cook wants adds to it. Whoever changes a package
// takes its part out before the change, and puts it in again after it (Lifecycle::Change).
#pragma once

#include <cstdint>

#include "director/core/counters.h"
#include "director/core/packages/monitor.h"
#include "director/core/packages/package_data.h"

namespace galley::director {

struct Tally {
  Counters counters;
  Monitor monitor;
  uint32_t on_agenda = 0;  // items of the agenda that are of these packages

  // The package's part comes or goes. `platforms`: the platforms that the cook wants; `judged`: the
  // platforms that failed in this cook alone, though their results stand.
  void Count(const PackageData& package, PlatformMask platforms, PlatformMask judged,
             bool is_there);
};

// True: the package ended one way or the other, or is not attempted, for a cook that wants these
// platforms and judged the package so.
bool IsOver(const PackageInCook& package, PlatformMask platforms, PlatformMask judged);

}  // namespace galley::director
