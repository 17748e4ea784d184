#include "director/core/workers/dispatcher.h"

#include <algorithm>

#include "common/base/sabotage.h"

namespace galley::director {
void Dispatcher::HandOverAll() {
  if (claimants_.masks().active == 0) return;
  survivors_.DropUnwanted();
  survivors_.HoldResources();
  if (!job_queue_.HasLoadWork()) return;
  parked_jobs_.ParkForHelpers();
  fleet_.Keep();
  reservations_.Look();
  parked_jobs_.Unpark();
  ExclusiveRun& exclusive_run = exclusive_run_;
  if (exclusive_run.IsForTooLong()) attempts_.EndAlone();
  if (attempts_.alone() != 0 && !job_queue_.HasBlockingJob()) return;
  if (attempts_.alone() == 0) {
    large_jobs_.LookAtParked();
    large_jobs_.HandOverKept();
  }
  std::vector<PackageId> aside;
  // A package that is quarantined may end a cook, which gives up other packages.
  while (!claimants_.has_stopped() &&
         (!workers_.attached().with_room().empty() || job_queue_.HasBlockingJob())) {
    const PackageId package = job_queue_.NextJob();
    if (!package.valid()) break;
    if (attempts_.alone() != 0 && packages_[package].urgency != Urgency::kBlocking) break;
    const bool runs_alone = exclusive_run.WaitsToBeAlone(package);
    if (runs_alone && !exclusive_run.IsAllElseDone()) break;
    if (faults_.Quarantine(package) || survivors_.TakeUp(package)) continue;
    if (runs_alone) {
      // Resources of a job of an earlier director are not waited for.
      if (!job_queue_.HasResources(package)) resumed_attempts_.CancelResumed();
      if (!worker_choice_.Place(package).worker.valid() && parked_jobs_.Park(package)) continue;
      job_handover_.HandOverAlone(package);
      break;
    }
    const Placement at = worker_choice_.Place(package);
    if (at.worker.valid()) {
      job_handover_.HandOver(package, at);
    } else if (!parked_jobs_.Park(package) && !culprits_.PutOff(package) &&
               !large_jobs_.SetAside(package, aside)) {
      break;
    }
  }
  job_queue_.EndTurn();
  for (const PackageId package : aside) graph_.lifecycle().Refresh(package);
  if (attempts_.alone() == 0 && claimants_.masks().has_several_classes()) Overtake();
  if (claimants_.has_stopped() || attempts_.alone() != 0) return;
  load_balancer_.Balance();
  const bool are_any_doubtful = worker_trust_.Look();
  const bool is_anybody_free = stragglers_.IsTimeToLook();
  if (is_anybody_free) job_splitting_.Split();
  if (is_anybody_free || are_any_doubtful) stragglers_.BackUp();
}

// No worker has room; but jobs of lower classes wait at the workers. A job of a higher class waits
// before such jobs, at each worker as many as it has slots: one of them begins when any job there
// ends.
void Dispatcher::Overtake() {
  while (!claimants_.has_stopped() && !graph_.queues().loads().empty() &&
         !worker_trust_.HasRoom()) {
    const PackageId package = job_queue_.NextJob();
    if (!package.valid() || packages_[package].work->runs_alone) break;
    const WorkerId worker = worker_choice_.PlaceBefore(package, job_queue_.UrgencyOf(package));
    if (!worker.valid()) break;
    if (faults_.Quarantine(package) || survivors_.TakeUp(package)) continue;
    job_handover_.HandOver(package, {.worker = worker});
  }
  job_queue_.EndTurn();
}

}  // namespace galley::director
