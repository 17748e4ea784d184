// Survivors: workers that outlive a director bring to the next director jobs and reports that it
// does not know. The journal says which of these jobs an earlier term gave the workers
// (WorkersSurvived); the other jobs are cancelled, and their reports refused.
//
// An attempt that may still be in hand is *resumed*: when its package comes to be handed over, the
// attempt is taken for the hand-over. The package waits until the attempt's worker has spoken or is
// given up. When all requested packages are looked up, attempts that are not wanted are cancelled.
//
// Until then the attempt holds the resources of its package (Grants). While these resources, or
// their machine, are not known yet, no other job gets any resource: `is_unsure`.
#pragma once

#include <optional>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/cache_queries.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/costs.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/job_handover.h"
#include "director/core/workers/reservations.h"

namespace galley::director {

class Survivors : JobPart {
 public:
  struct Deps {
    Costs& costs;
    Grants& grants;
    Attempts& attempts;
    ResumedAttempts& resumed_attempts;
    PackageProgress& package_progress;
    CacheQueries& cache_queries;
    Eligibility& eligibility;
    Reservations& reservations;
    JobHandover& job_handover;
  };
  Survivors(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  void OnWorkersSurvived(const WorkersSurvived& event);
  // A worker says which jobs it really has.
  void Resume(const WorkerAttached& event);
  // True: the package needs no hand-over for now.
  bool TakeUp(PackageId package);
  void DropUnwanted();
  // A step hands jobs over. O(resumed attempts whose resources are not settled).
  void HoldResources();

 private:
  bool IsAwaited(const ResumedAttempts::Resumed& one) const;
  std::optional<uint32_t> GroupOf(PackageId package) const;
  bool SettleHold(PackageId package, const ResumedAttempts::Resumed& one);

  uint32_t settled_epoch_ = 0;  // StepContext::epoch for which the other attempts are settled
  // When DropUnwanted looked last (StepContext::awake).
  absl::Duration dropped_at_ = -absl::InfiniteDuration();

  const Deps deps_;
};

}  // namespace galley::director
