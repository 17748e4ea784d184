#include "director/core/workers/dispatcher.h"

namespace galley::director {

void Dispatcher::HandOverAll() {
  if (claimants_.masks().active == 0) return;
  deps_.spare_jobs.Sort();
  deps_.survivors.DropUnwanted();
  deps_.survivors.HoldResources();
  if (deps_.job_queue.HasLoadWork()) {
    HandOverOthers();
    if (deps_.spare_jobs.FreeResources()) HandOverOthers();
  }
  deps_.spare_jobs.MakeWay();
  if (claimants_.has_stopped() || deps_.attempts.alone() != 0) return;
  HandOverSpare();
  deps_.spare_jobs.MakeWay();  // a job of an earlier director may have been taken up
}

// Slots that no other job can use by now go to what only asks ahead of need want.
void Dispatcher::HandOverSpare() {
  if (!deps_.job_queue.HasLoadWork()) {
    deps_.parked_jobs.ParkForHelpers();
    deps_.parked_jobs.Unpark();
  }
  if (deps_.spare_jobs.IsAnyReady()) deps_.fleet.KeepLocal();
  deps_.spare_jobs.HandOver();
}

void Dispatcher::HandOverOthers() {
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
  HandOverReady();
  if (deps_.attempts.alone() == 0 && claimants_.masks().has_several_classes()) Overtake();
  if (claimants_.has_stopped() || deps_.attempts.alone() != 0) return;
  deps_.load_balancer.Balance();
  const bool are_any_doubtful = deps_.worker_trust.Look();
  const bool is_anybody_free = deps_.stragglers.IsTimeToLook();
  if (is_anybody_free) job_splitting_.Split();
  if (is_anybody_free || are_any_doubtful) deps_.stragglers.BackUp();
}

void Dispatcher::HandOverReady() {
  std::vector<PackageId> aside;
  // A package that is quarantined may end a cook, which gives up other packages.
  while (!claimants_.has_stopped() &&
         (!workers_.attached().with_room().empty() || deps_.job_queue.HasBlockingJob())) {
    if (!HandOverNext(aside)) break;
  }
  deps_.job_queue.EndTurn();
  for (const PackageId package : aside) graph_.lifecycle().Refresh(package);
}

// False: no further job can be handed over in this step.
bool Dispatcher::HandOverNext(std::vector<PackageId>& aside) {
  const PackageId package = deps_.job_queue.NextJob();
  if (!package.valid()) return false;
  if (deps_.attempts.alone() != 0 && packages_[package].urgency != Urgency::kBlocking) return false;
  const bool runs_alone = deps_.exclusive_run.WaitsToBeAlone(package);
  if (runs_alone && !deps_.exclusive_run.IsAllElseDone()) return false;
  if (deps_.faults.Quarantine(package) || deps_.survivors.TakeUp(package)) return true;
  if (runs_alone) {
    // Resources of a job of an earlier director are not waited for.
    if (!deps_.job_queue.HasResources(package)) deps_.resumed_attempts.CancelResumed();
    if (!deps_.worker_choice.Place(package).worker.valid() && deps_.parked_jobs.Park(package))
      return true;
    deps_.spare_jobs.EndAll();
    deps_.job_handover.HandOverAlone(package);
    return false;
  }
  const Placement at = deps_.worker_choice.Place(package);
  if (at.worker.valid()) {
    deps_.job_handover.HandOver(package, at);
    return true;
  }
  return deps_.parked_jobs.Park(package) || deps_.culprits.PutOff(package) ||
         deps_.large_jobs.SetAside(package, aside);
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
