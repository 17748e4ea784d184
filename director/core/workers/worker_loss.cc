#include "director/core/workers/worker_loss.h"

namespace galley::director {

void WorkerLoss::Lose(WorkerId worker, bool is_in_order) {
  attempts_.ForgetLaterOf(worker);
  workers_.SetLost(worker, step_.awake);
  grants_.Forget(worker);
  input_affinity_.Forget(worker);
  resumed_attempts_.ForgetResumedOf(worker);
  attempts_.ForgetRetractedOf(worker);
  worker_trust_.NoteLost(worker);
  if (!is_in_order) {
    claimants_.CountForAll(&Counters::workers_lost);
    ++counts_.Of(PoolOf(worker)).lost;
  }
  claimants_.CountAttached(workers_.attached().count());
}

void WorkerLoss::LoseViolator(WorkerId id) {
  const Worker* worker = workers_.Find(id);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  Lose(id);
  job_returns_.GiveBack(id);
}

void WorkerLoss::Drain(WorkerId id) {
  workers_.SetDraining(id, true);
  effects_.DesireFor(id).drain = true;
  // A launcher's workers are replaced by the core when there is work.
  effects_.DesireFor(id).start_another =
      PoolOf(id) == Pool::kForeign && !held_results_.IsQuarantined(id);
  // Jobs that have not begun go to other workers, except jobs that would hold their resource twice.
  for (const AttemptId attempt : workers_.Find(id)->jobs.Queue()) {
    if (attempts_.Current(attempt) == nullptr || attempts_.at(attempt).group != 0) continue;
    const PackageId package = attempts_.at(attempt).package;
    attempts_.EndAttempt(attempt, Tell::kRetract);
    claimants_.Count(package, &Counters::jobs_retracted);
    package_progress_.Advance(package);
  }
}

void WorkerLoss::Dismiss(WorkerId id) {
  const Worker* worker = workers_.Find(id);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers_.SetDraining(id, true);
  effects_.DesireFor(id).drain = true;
  for (const AttemptId attempt : worker->jobs.All()) {
    if (attempts_.Current(attempt) == nullptr) continue;
    const PackageId package = attempts_.at(attempt).package;
    attempts_.EndAttempt(attempt, Tell::kCancel);
    claimants_.Count(package, &Counters::jobs_retried);
    package_progress_.Advance(package);
  }
}

}  // namespace galley::director
