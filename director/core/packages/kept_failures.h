// KeptFailures: packages that used up their attempts. Asks do not try such a package again until
// its inputs change, or until the time is over; a cook tries it again as always.
//
// Otherwise a device that asks again and again for a package that kills executors would kill one
// executor after the other. The failures outlive the cook and the ask in which they happened.
// Cost: O(log n); remembers only packages that used up their attempts.
// Threads: none; owned by its layer.
#pragma once

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "director/core/effects.h"
#include "director/core/ids.h"

namespace galley::director {

class KeptFailures {
 public:
  static constexpr absl::Duration kKeptFor = absl::Minutes(10);

  // Keeps the failure if its cause says that the package used up its attempts. A failure that is
  // kept already keeps its time, because it may be the same failure, told again.
  void Keep(const PackageFailed& failed, absl::Time now);
  // nullptr: the package may be tried.
  const PackageFailed* Find(PackageId package, absl::Time now);
  // The package's inputs changed, or a person cleared the package.
  void Forget(PackageId package) { failures_.erase(package); }

 private:
  struct Kept {
    PackageFailed failed;
    absl::Time until;
  };
  absl::btree_map<PackageId, Kept> failures_;
};

}  // namespace galley::director
