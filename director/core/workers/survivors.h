// Survivors: workers that outlive a director come to the next one with jobs and reports that it
// does not know. WorkersSurvived says which jobs earlier directors gave them, from the journal. All
// other jobs are cancelled, and reports on them are refused.
//
// An attempt that its worker may still have is *resumed*: when its package is to be handed over,
// the attempt counts as the hand-over. The package waits until the attempt's worker attaches or is
// given up. When all requested packages are looked up, unwanted attempts are cancelled.
//
// Until then the attempt holds the resources of its package (Grants). While these resources or
// their machine are unknown, no other job gets resources (ResumedAttempts::is_unsure).
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
  // A worker attached and says which jobs it really has.
  void Resume(const WorkerAttached& event);
  // True: the package is not to be handed over now: its resumed attempt counts, or it has to wait.
  bool TakeUp(PackageId package);
  void DropUnwanted();
  // Runs when a step hands jobs over. O(ResumedAttempts::unsettled).
  void HoldResources();

 private:
  bool IsAwaited(const ResumedAttempts::Resumed& one) const;
  std::optional<uint32_t> GroupOf(PackageId package) const;
  bool SettleHold(PackageId package, const ResumedAttempts::Resumed& one);

  uint32_t settled_epoch_ = 0;  // StepContext::epoch of the last HoldResources
  // When DropUnwanted looked last (StepContext::awake).
  absl::Duration dropped_at_ = -absl::InfiniteDuration();

  const Deps deps_;
};

}  // namespace galley::director
