// HandingOver: a job is given to a worker.
// Threads: none; owned by Core.
#pragma once

#include "absl/time/time.h"
#include "director/core/attempt.h"
#include "director/core/part.h"

namespace galley::director {

class HandingOver : Part {
 public:
  explicit HandingOver(Core& core) : Part(core) {}

  void HandOver(PackageId package, const Placement& at);
  // The package gets a worker with nothing else in hand anywhere (aloneness.h), if there is one.
  void HandOverAlone(PackageId package);
  // Returns the platforms that are to be cooked, of these.
  PlatformMask PutInHand(PackageId package, PlatformMask of = ~PlatformMask{0});
  void SetHandedOver(PackageId package, AttemptId attempt);
  // REQUIRES: the attempt's package, worker, group and expected time are known.
  void Hold(AttemptId id, const Attempt& attempt);
  AttemptId Give(PackageId package, const Placement& at, PlatformMask platforms,
                 absl::Duration expected);
};

}  // namespace galley::director
