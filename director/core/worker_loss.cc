#include "director/core/worker_loss.h"

#include "director/core/core.h"

namespace galley::director {

void WorkerLoss::Lose(WorkerId worker, bool is_in_order) {
  core_.attempts.ForgetLaterOf(worker);
  workers_.SetLost(worker, today_.awake);
  core_.grants.Forget(worker);
  core_.warmth.Forget(worker);
  core_.resumed_attempts.ForgetResumedOf(worker);
  core_.attempts.ForgetRetractedOf(worker);
  core_.trust.NoteLost(worker);
  if (!is_in_order) {
    claimants_.CountForAll(&Counters::workers_lost);
    ++counts_.Of(PoolOf(worker)).lost;
  }
  claimants_.CountAttached(workers_.attached());
}

void WorkerLoss::LoseViolator(WorkerId id) {
  const Worker* worker = workers_.Find(id);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  Lose(id);
  core_.handing_back.GiveBack(id);
}

void WorkerLoss::Drain(WorkerId id) {
  workers_.SetDraining(id, true);
  DesireFor(id).drain = true;
  // (Those that launchers started are replaced by these when there is work.)
  DesireFor(id).start_another =
      PoolOf(id) == Pool::kForeign && !core_.held_results.IsQuarantined(id);
  // What has not begun there goes elsewhere, but for what would hold its resource twice.
  for (const AttemptId attempt : workers_.Find(id)->hand.Queue()) {
    if (core_.attempts.Current(attempt) == nullptr || core_.attempts.at(attempt).group != 0)
      continue;
    const PackageId package = core_.attempts.at(attempt).package;
    core_.attempts.EndAttempt(attempt, Tell::kRetract);
    claimants_.Count(package, &Counters::jobs_retracted);
    core_.advancing.Advance(package);
  }
}

void WorkerLoss::Dismiss(WorkerId id) {
  const Worker* worker = workers_.Find(id);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers_.SetDraining(id, true);
  DesireFor(id).drain = true;
  for (const AttemptId attempt : worker->hand.All()) {
    if (core_.attempts.Current(attempt) == nullptr) continue;
    const PackageId package = core_.attempts.at(attempt).package;
    core_.attempts.EndAttempt(attempt, Tell::kCancel);
    claimants_.Count(package, &Counters::jobs_retried);
    core_.advancing.Advance(package);
  }
}

}  // namespace galley::director
