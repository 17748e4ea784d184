// Tally: the numbers of one cook so far.
//
// A Tally is a sum over the packages that the cook wants. Lifecycle::Change subtracts a package
// before the package changes, and adds it again afterwards.
#pragma once

#include <cstdint>

#include "director/core/counters.h"
#include "director/core/packages/monitor.h"
#include "director/core/packages/package_data.h"

namespace galley::director {

struct Tally {
  Counters counters;
  Monitor monitor;
  uint32_t on_agenda = 0;  // agenda items of these packages

  // Adds the package (`is_there`), or subtracts it. `platforms`: those that the cook wants.
  // `judged`: Claimant::JudgedOf.
  void Count(const PackageData& package, PlatformMask platforms, PlatformMask judged,
             bool is_there);
  // Adds a package that the cook refuses (Claimant::refused), or subtracts it.
  void CountRefused(PlatformMask platforms, bool is_there);
};

// True: for a cook that wants `platforms` and has `judged`, the package is done, failed or skipped.
bool IsOver(const PackageInCook& package, PlatformMask platforms, PlatformMask judged);

}  // namespace galley::director
