#include "director/core/workers/dispatching.h"

#include <algorithm>

#include "common/base/sabotage.h"

namespace galley::director {
void Dispatching::HandOverAll() {
  if (claimants_.active() == 0) return;
  survivors_.DropUnwanted();
  survivors_.HoldResources();
  if (!job_queue_.HasLoadWork()) return;
  parking_.ParkForHelpers();
  fleet_.Keep();
  reservations_.Look();
  parking_.Unpark();
  Aloneness& aloneness = aloneness_;
  if (aloneness.IsForTooLong()) attempts_.EndAlone();
  if (attempts_.alone() != 0 && !job_queue_.HasBlockingJob()) return;
  if (attempts_.alone() == 0) {
    large_jobs_.LookAtParked();
    large_jobs_.HandOverKept();
  }
  std::vector<PackageId> aside;
  // (A package that is quarantined may end a cook, which gives up others.)
  while (!claimants_.has_stopped() &&
         (!workers_.with_room().empty() || job_queue_.HasBlockingJob())) {
    const PackageId package = job_queue_.NextJob();
    if (!package.valid()) break;
    if (attempts_.alone() != 0 && packages_[package].urgency != Urgency::kBlocking) break;
    const bool runs_alone = aloneness.WaitsToBeAlone(package);
    if (runs_alone && !aloneness.IsAllElseDone()) break;
    if (faults_.Quarantine(package) || survivors_.TakeUp(package)) continue;
    if (runs_alone) {
      // (What a job from before holds is not waited for.)
      if (!job_queue_.HasResources(package)) resumed_attempts_.CancelResumed();
      if (!placing_.Place(package).worker.valid() && parking_.Park(package)) continue;
      handing_over_.HandOverAlone(package);
      break;
    }
    const Placement at = placing_.Place(package);
    if (at.worker.valid()) {
      handing_over_.HandOver(package, at);
    } else if (!parking_.Park(package) && !culprits_.PutOff(package) &&
               !large_jobs_.SetAside(package, aside)) {
      break;
    }
  }
  job_queue_.EndTurn();
  for (const PackageId package : aside) graph_.lifecycle().Refresh(package);
  if (attempts_.alone() == 0 && claimants_.has_several_classes()) Overtake();
  if (claimants_.has_stopped() || attempts_.alone() != 0) return;
  balancing_.Balance();
  const bool are_any_doubtful = trust_.Look();
  const bool is_anybody_free = stragglers_.IsTimeToLook();
  if (is_anybody_free) splitting_.Split();
  if (is_anybody_free || are_any_doubtful) stragglers_.BackUp();
}

// No worker has room; but what waits there is of lower classes. A job of a higher class waits
// before that, at each worker as many as it has slots: one of them begins when any job there ends.
void Dispatching::Overtake() {
  while (!claimants_.has_stopped() && !graph_.lifecycle().loads().empty() && !trust_.HasRoom()) {
    const PackageId package = job_queue_.NextJob();
    if (!package.valid() || packages_[package].work->runs_alone) break;
    const WorkerId worker = placing_.PlaceBefore(package, job_queue_.UrgencyOf(package));
    if (!worker.valid()) break;
    if (faults_.Quarantine(package) || survivors_.TakeUp(package)) continue;
    handing_over_.HandOver(package, {.worker = worker});
  }
  job_queue_.EndTurn();
}

}  // namespace galley::director
