#include "director/core/dispatching.h"

#include <algorithm>

#include "common/base/sabotage.h"
#include "director/core/core.h"

namespace galley::director {
void Dispatching::HandOverAll() {
  if (claimants_.active() == 0) return;
  core_.survivors.DropUnwanted();
  core_.survivors.HoldResources();
  if (!core_.job_queue.HasLoadWork()) return;
  core_.parking.ParkForHelpers();
  core_.fleet.Keep();
  core_.reservations.Look();
  core_.parking.Unpark();
  Aloneness& aloneness = core_.aloneness;
  if (aloneness.IsForTooLong()) core_.attempts.EndAlone();
  if (core_.attempts.alone() != 0 && !core_.job_queue.HasBlockingJob()) return;
  if (core_.attempts.alone() == 0) {
    core_.large_jobs.LookAtParked();
    core_.large_jobs.HandOverKept();
  }
  std::vector<PackageId> aside;
  // (A package that is quarantined may end a cook, which gives up others.)
  while (!claimants_.has_stopped() &&
         (!workers_.with_room().empty() || core_.job_queue.HasBlockingJob())) {
    const PackageId package = core_.job_queue.NextJob();
    if (!package.valid()) break;
    if (core_.attempts.alone() != 0 && packages_[package].urgency != Urgency::kBlocking) break;
    const bool runs_alone = aloneness.WaitsToBeAlone(package);
    if (runs_alone && !aloneness.IsAllElseDone()) break;
    if (core_.faults.Quarantine(package) || core_.survivors.TakeUp(package)) continue;
    if (runs_alone) {
      // (What a job from before holds is not waited for.)
      if (!core_.job_queue.HasResources(package)) core_.resumed_attempts.CancelResumed();
      if (!core_.placing.Place(package).worker.valid() && core_.parking.Park(package)) continue;
      core_.handing_over.HandOverAlone(package);
      break;
    }
    const Placement at = core_.placing.Place(package);
    if (at.worker.valid()) {
      core_.handing_over.HandOver(package, at);
    } else if (!core_.parking.Park(package) && !core_.culprits.PutOff(package) &&
               !core_.large_jobs.SetAside(package, aside)) {
      break;
    }
  }
  core_.job_queue.EndTurn();
  for (const PackageId package : aside) lifecycle().Refresh(package);
  if (core_.attempts.alone() == 0 && claimants_.has_several_classes()) Overtake();
  if (claimants_.has_stopped() || core_.attempts.alone() != 0) return;
  core_.balancing.Balance();
  const bool are_any_doubtful = core_.trust.Look();
  const bool is_anybody_free = core_.stragglers.IsTimeToLook();
  if (is_anybody_free) core_.splitting.Split();
  if (is_anybody_free || are_any_doubtful) core_.stragglers.BackUp();
}

// No worker has room; but what waits there is of lower classes. A job of a higher class waits
// before that, at each worker as many as it has slots: one of them begins when any job there ends.
void Dispatching::Overtake() {
  while (!claimants_.has_stopped() && !lifecycle().loads().empty() && !core_.trust.HasRoom()) {
    const PackageId package = core_.job_queue.NextJob();
    if (!package.valid() || packages_[package].work->runs_alone) break;
    const WorkerId worker = core_.placing.PlaceBefore(package, core_.job_queue.UrgencyOf(package));
    if (!worker.valid()) break;
    if (core_.faults.Quarantine(package) || core_.survivors.TakeUp(package)) continue;
    core_.handing_over.HandOver(package, {.worker = worker});
  }
  core_.job_queue.EndTurn();
}

}  // namespace galley::director
