// HandingOver: a job is given to a worker.
// Threads: none; owned by Core.
#pragma once

#include "absl/time/time.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/following.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/waits.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/placing.h"
#include "director/core/workers/warmth.h"

namespace galley::director {

class HandingOver : JobPart {
 public:
  HandingOver(const JobGround& ground, Costs& costs, Grants& grants, Warmth& warmth,
              Attempts& attempts, ResumedAttempts& resumed_attempts, Following& following,
              Waits& waits, HeldResults& held_results, Placing& placing, JobQueue& job_queue,
              Breakers& breakers)
      : JobPart(ground),
        costs_(costs),
        grants_(grants),
        warmth_(warmth),
        attempts_(attempts),
        resumed_attempts_(resumed_attempts),
        following_(following),
        waits_(waits),
        held_results_(held_results),
        placing_(placing),
        job_queue_(job_queue),
        breakers_(breakers) {}

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

 private:
  Costs& costs_;
  Grants& grants_;
  Warmth& warmth_;
  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
  Following& following_;
  Waits& waits_;
  HeldResults& held_results_;
  Placing& placing_;
  JobQueue& job_queue_;
  Breakers& breakers_;
};

}  // namespace galley::director
