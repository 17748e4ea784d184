#include "director/core/workers/worker_loss.h"

namespace galley::director {

void WorkerLoss::Lose(WorkerId worker, bool is_in_order) {
  deps_.attempts.ForgetLaterOf(worker);
  workers_.SetLost(worker, step_.awake);
  deps_.grants.Forget(worker);
  deps_.input_affinity.Forget(worker);
  deps_.resumed_attempts.ForgetResumedOf(worker);
  deps_.attempts.ForgetRetractedOf(worker);
  deps_.worker_trust.NoteLost(worker);
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
  deps_.job_returns.GiveBack(id);
}

void WorkerLoss::Drain(WorkerId id) {
  workers_.SetDraining(id, true);
  effects_.DesireFor(id).drain = true;
  // A launcher's workers are replaced by the core when there is work.
  effects_.DesireFor(id).start_another =
      PoolOf(id) == Pool::kForeign && !deps_.held_results.IsQuarantined(id);
  // Jobs that have not begun go to other workers, except jobs that would hold their resource twice.
  for (const AttemptId attempt : workers_.Find(id)->jobs.Queue()) {
    if (deps_.attempts.Current(attempt) == nullptr || deps_.attempts.at(attempt).group != 0)
      continue;
    const PackageId package = deps_.attempts.at(attempt).package;
    deps_.attempts.EndAttempt(attempt, Tell::kRetract);
    claimants_.Count(package, &Counters::jobs_retracted);
    deps_.package_progress.Advance(package);
  }
}

void WorkerLoss::Dismiss(WorkerId id) {
  const Worker* worker = workers_.Find(id);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers_.SetDraining(id, true);
  effects_.DesireFor(id).drain = true;
  for (const AttemptId attempt : worker->jobs.All()) {
    if (deps_.attempts.Current(attempt) == nullptr) continue;
    const PackageId package = deps_.attempts.at(attempt).package;
    deps_.attempts.EndAttempt(attempt, Tell::kCancel);
    claimants_.Count(package, &Counters::jobs_retried);
    deps_.package_progress.Advance(package);
  }
}

}  // namespace galley::director
