#include "director/core/workers/dispatcher.h"

#include <algorithm>

#include "common/base/sabotage.h"

namespace galley::director {
void Dispatcher::HandOverAll() {
  if (claimants_.masks().active == 0) return;
  deps_.survivors.DropUnwanted();
  deps_.survivors.HoldResources();
  if (!deps_.job_queue.HasLoadWork()) return;
  deps_.parked_jobs.ParkForHelpers();
  deps_.fleet.Keep();
  deps_.reservations.Look();
  deps_.parked_jobs.Unpark();
  if (deps_.exclusive_run.IsForTooLong()) deps_.attempts.EndAlone();
  if (deps_.attempts.alone() != 0 && !deps_.job_queue.HasBlockingJob()) return;
  if (deps_.attempts.alone() == 0) {
    deps_.large_jobs.LookAtParked();
    deps_.large_jobs.HandOverKept();
  }
  std::vector<PackageId> aside;
  // A package that is quarantined may end a cook, which gives up other packages.
  while (!claimants_.has_stopped() &&
         (!workers_.attached().with_room().empty() || deps_.job_queue.HasBlockingJob())) {
    const PackageId package = deps_.job_queue.NextJob();
    if (!package.valid()) break;
    if (deps_.attempts.alone() != 0 && packages_[package].urgency != Urgency::kBlocking) break;
    const bool runs_alone = deps_.exclusive_run.WaitsToBeAlone(package);
    if (runs_alone && !deps_.exclusive_run.IsAllElseDone()) break;
    if (deps_.faults.Quarantine(package) || deps_.survivors.TakeUp(package)) continue;
    if (runs_alone) {
      // Resources of a job of an earlier director are not waited for.
      if (!deps_.job_queue.HasResources(package)) deps_.resumed_attempts.CancelResumed();
      if (!deps_.worker_choice.Place(package).worker.valid() && deps_.parked_jobs.Park(package))
        continue;
      deps_.job_handover.HandOverAlone(package);
      break;
    }
    const Placement at = deps_.worker_choice.Place(package);
    if (at.worker.valid()) {
      deps_.job_handover.HandOver(package, at);
    } else if (!deps_.parked_jobs.Park(package) && !deps_.culprits.PutOff(package) &&
               !deps_.large_jobs.SetAside(package, aside)) {
      break;
    }
  }
  deps_.job_queue.EndTurn();
  for (const PackageId package : aside) graph_.lifecycle().Refresh(package);
  if (deps_.attempts.alone() == 0 && claimants_.masks().has_several_classes()) Overtake();
  if (claimants_.has_stopped() || deps_.attempts.alone() != 0) return;
  deps_.load_balancer.Balance();
  const bool are_any_doubtful = deps_.worker_trust.Look();
  const bool is_anybody_free = deps_.stragglers.IsTimeToLook();
  if (is_anybody_free) job_splitting_.Split();
  if (is_anybody_free || are_any_doubtful) deps_.stragglers.BackUp();
}

// No worker has room; but jobs of lower classes wait at the workers. A job of a higher class waits
// before such jobs, at each worker as many as it has slots: one of them begins when any job there
// ends.
void Dispatcher::Overtake() {
  while (!claimants_.has_stopped() && !graph_.queues().loads().empty() &&
         !deps_.worker_trust.HasRoom()) {
    const PackageId package = deps_.job_queue.NextJob();
    if (!package.valid() || packages_[package].work->runs_alone) break;
    const WorkerId worker =
        deps_.worker_choice.PlaceBefore(package, deps_.job_queue.UrgencyOf(package));
    if (!worker.valid()) break;
    if (deps_.faults.Quarantine(package) || deps_.survivors.TakeUp(package)) continue;
    deps_.job_handover.HandOver(package, {.worker = worker});
  }
  deps_.job_queue.EndTurn();
}

}  // namespace galley::director
