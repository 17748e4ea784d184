// AskedWork: the packages in the works that somebody asks for now (cooks/asks.h). Asks have no
// tally, as cooks have; so these numbers stand for them where the work that is left is counted.
//
// A package that a cook wants as well is counted here and in the cook's tally, as a package that
// two cooks want is counted twice. A package that is asked for, and that is not Blocking, is no
// package for which somebody waits, and is not counted.
// Threads: none; owned by Lifecycle, which counts a package out before it changes, and in again.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "director/core/packages/package_data.h"

namespace galley::director {

struct AskedWork {
  uint32_t in_works = 0;    // packages that are not idle
  uint32_t to_cook = 0;     // of them, known to need a cook
  absl::Duration expected;  // cost of `to_cook`

  // Adds the package (`is_there`), or subtracts it.
  void Count(const PackageData& package, bool is_there) {
    if ((package.cooks & kAsksBit) == 0 || package.urgency != Urgency::kBlocking ||
        package.work == nullptr)
      return;
    const uint32_t one = is_there ? 1 : ~uint32_t{0};
    in_works += one;
    if (!package.work->is_expected) return;
    to_cook += one;
    if (is_there) {
      expected += package.work->expected;
    } else {
      expected -= package.work->expected;
    }
  }

  friend bool operator==(const AskedWork&, const AskedWork&) = default;
};

}  // namespace galley::director
