// JobHandover: gives a job to a worker.
// Threads: none; owned by its layer.
#pragma once

#include "absl/time/time.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/equal_work_followers.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/waits.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/input_affinity.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/worker_choice.h"

namespace galley::director {

class JobHandover : JobPart {
 public:
  struct Deps {
    Costs& costs;
    Grants& grants;
    InputAffinity& input_affinity;
    Attempts& attempts;
    ResumedAttempts& resumed_attempts;
    EqualWorkFollowers& equal_work_followers;
    Waits& waits;
    HeldResults& held_results;
    WorkerChoice& worker_choice;
    JobQueue& job_queue;
    Breakers& breakers;
  };
  JobHandover(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  void HandOver(PackageId package, const Placement& at);
  // Hands the package over to run alone (exclusive_run.h), if some worker can take it. REQUIRES: no
  // job is in hand anywhere.
  void HandOverAlone(PackageId package);
  // Moves the platforms among `of` that are to be cooked to kInHand, and returns them.
  PlatformMask PutInHand(PackageId package, PlatformMask of = ~PlatformMask{0});
  void SetHandedOver(PackageId package, AttemptId attempt);
  // REQUIRES: the attempt's package, worker, group and expected time are known.
  void Hold(AttemptId id, const Attempt& attempt);
  // When a job that is not spare was handed over last (StepContext::awake).
  absl::Duration handed_over_at() const { return handed_over_at_; }
  AttemptId Give(PackageId package, const Placement& at, PlatformMask platforms,
                 absl::Duration expected);

 private:
  absl::Duration handed_over_at_ = -absl::InfiniteDuration();

  const Deps deps_;
};

}  // namespace galley::director
