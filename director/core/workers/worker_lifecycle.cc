#include "director/core/workers/worker_lifecycle.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"

namespace galley::director {
void WorkerLifecycle::OnWorkerAttached(const WorkerAttached& event) {
  const Worker* before = workers_.Find(event.worker);
  if (before == nullptr || !(before->was_attached || before->is_survivor)) {
    claimants_.CountForAll(&Counters::workers_started);
    ++counts_.Of(PoolOf(event.worker)).started;
  }
  const size_t running = before == nullptr ? 0 : before->jobs.in_slots_count();
  const bool is_new_process = before == nullptr || before->session != event.session;
  Worker& worker = workers_.Attach(event.worker, event.slots, step_.awake);
  worker.memory_bytes = event.memory_bytes;
  worker.machine = deps_.machines.NumberOf(event.worker, event.machine);
  deps_.breakers.NoteAttached(event.worker);
  deps_.eligibility.SetLacks(event.worker, event.lacks);
  deps_.eligibility.SetOffer(event.worker, event.machine, event.offer);
  claimants_.CountForAll(&Counters::jobs_pending,
                         workers_.SetPending(event.worker, event.pending,
                                             event.is_held ? &event.begun : nullptr, step_.awake));
  for (const AttemptId attempt : event.uploading) NoteUploading(event.worker, attempt);
  if (is_new_process) {
    worker.BeginSession(event.session, event.persisted);
    worker.refuses.clear();
    workers_.SetDraining(event.worker, false);
    deps_.input_affinity.Forget(event.worker);  // its executors are new ones
    deps_.attempts.ForgetRetractedOf(event.worker);
    deps_.commits.ForgetReportsOf(event.worker);
    deps_.held_results.ForgetReportsOf(event.worker);
  }
  const bool is_out = deps_.held_results.IsQuarantined(event.worker) || worker.health.has_violated;
  if (is_out) workers_.SetDraining(event.worker, true);
  if (worker.is_draining) {
    effects_.DesireFor(event.worker).drain = true;
    effects_.DesireFor(event.worker).start_another =
        PoolOf(event.worker) == Pool::kForeign && !is_out;
  }
  claimants_.CountAttached(workers_.attached().count());
  if (IsSabotaged(Sabotage::kForgetInFlight)) return;
  deps_.survivors.Resume(event);
  for (const AttemptId attempt : event.in_hand) {
    if (!worker.jobs.Contains(attempt) && !deps_.resumed_attempts.IsResumed(attempt))
      effects_.DesireFor(event.worker).cancel.push_back(attempt);
  }
  // Attempts that the worker should have and has not were lost on the way to the worker, or with
  // the process before it: attempts that were merely queued there, or done, had no part in its end.
  const std::vector<AttemptId> in_hand = worker.jobs.All();
  for (size_t i = 0; i < in_hand.size(); ++i) {
    const AttemptId attempt = in_hand[i];
    if (deps_.attempts.Current(attempt) == nullptr ||
        std::ranges::find(event.in_hand, attempt) != event.in_hand.end())
      continue;
    const Attempt lost = deps_.attempts.at(attempt);
    deps_.attempts.EndAttempt(attempt, Tell::kCancel);
    if (is_new_process && i >= running) {
      claimants_.CountRetry(lost.package, RetryCause::kWorkerLost);
    } else {
      deps_.faults.BlameInfrastructure(lost.package, lost.remaining,
                                       is_new_process
                                           ? "another process took the place of its worker"
                                           : "it was lost on the way to its worker",
                                       "", RetryCause::kWorkerLost);
    }
    deps_.package_progress.Advance(lost.package);
  }
  // An attempt that is over there is told with the next messages; an attempt that never came there
  // is told by no message.
  for (const AttemptId attempt : worker.given) {
    if (std::ranges::find(event.in_hand, attempt) == event.in_hand.end())
      deps_.attempts.ForgetLater(attempt);
  }
}

void WorkerLifecycle::BeginCook() {
  deps_.fleet.start_failures().Clear();
  deps_.eligibility.ForgetRefusals();
  deps_.parked_jobs.BeginCook();
  for (const WorkerId worker : workers_.attached().ring()) {
    if (!workers_.Find(worker)->reports.uncommitted.empty())
      effects_.DesireFor(worker).resend_all = true;
  }
}

void WorkerLifecycle::OnWorkerLost(const WorkerLost& event) {
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence == Worker::Presence::kLost) return;
  if (worker->presence == Worker::Presence::kStarting) {
    return OnLauncherReported({.worker = event.worker,
                               .error = "it ended before it attached: " + event.reason,
                               .is_unfit = event.is_unfit});
  }
  const bool is_in_order = event.is_in_order || (worker->is_draining && worker->jobs.empty());
  deps_.worker_loss.Lose(event.worker, is_in_order);
  // Workers that came by themselves come and go, and say nothing of the workers that are started
  // here.
  if (!is_in_order && !IsForeign(event.worker)) ++deps_.fleet.start_failures().losses;
  const size_t running = worker->jobs.in_slots_count();
  const std::vector<AttemptId> in_hand = worker->jobs.All();
  for (size_t i = 0; i < in_hand.size(); ++i) {
    if (deps_.attempts.Current(in_hand[i]) == nullptr)
      continue;  // an earlier failure ended the cook
    const Attempt attempt = deps_.attempts.at(in_hand[i]);
    deps_.attempts.EndAttempt(in_hand[i], Tell::kNothing);
    if (i >= running) {
      // The attempt was merely queued there, or done but for the way of its outputs.
      claimants_.CountRetry(attempt.package, RetryCause::kWorkerLost);
    } else if (event.is_infrastructure) {
      if (!deps_.culprits.OnWorkerLost(in_hand[i], attempt, event.reason)) {
        deps_.faults.BlameInfrastructure(attempt.package, attempt.remaining,
                                         "worker lost: " + event.reason, "",
                                         RetryCause::kWorkerLost);
      }
    } else {
      const uint32_t count = deps_.faults.CountOwnFault(
          attempt.package, event.worker,
          {.fault = WorkerReport::Fault::kCrashed, .error = "worker lost: " + event.reason});
      claimants_.CountRetry(attempt.package, RetryCause::kWorkerLost);
      if (retry_.AreOwnFaultsEnough(count)) {
        deps_.package_progress.FailPlatforms(
            attempt.package, attempt.remaining, Stage::kLoad,
            "its worker was lost (" + std::to_string(count) +
                " attempts ended so); quarantined for this cook: " + event.reason,
            "", FailureCause::kPackage, in_hand[i]);
      }
    }
    deps_.package_progress.Advance(attempt.package);
  }
  if (!IsForeign(event.worker)) EndIfAllAreLost(event.reason);
}

void WorkerLifecycle::EndIfAllAreLost(const std::string& reason) {
  // A machine may take all its workers along at once.
  if (deps_.fleet.start_failures().losses <
      std::max(options_.losses_max, options_.losses_of_each_max * deps_.fleet.most()))
    return;
  const auto has_worked = [this](WorkerId id) { return workers_.Find(id)->has_worked; };
  if (std::ranges::any_of(workers_.attached().ring(), has_worked)) return;
  claimants_.EndAll("no worker lives: " + std::to_string(deps_.fleet.start_failures().losses) +
                    " in a row were lost before they had done anything, the last: " + reason);
}

void WorkerLifecycle::OnLauncherReported(const LauncherReported& event) {
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kStarting) return;
  if (event.state == LauncherReported::State::kQueued) return workers_.SetQueued(event.worker);
  if (event.state == LauncherReported::State::kStarting)
    return workers_.SetBeginning(event.worker, step_.awake);
  if (event.error.empty()) return;
  if (IsSabotaged(Sabotage::kForgetLaunch) && PoolOf(event.worker) == Pool::kLaunched) return;
  const absl::Duration asked_at = worker->asked_at;
  const bool is_survivor = worker->is_survivor;
  deps_.resumed_attempts.ForgetResumedOf(event.worker);
  deps_.attempts.ForgetLaterOf(event.worker);
  workers_.SetLost(event.worker, step_.awake);
  if (is_survivor) return;
  ++counts_.Of(PoolOf(event.worker)).launches_failed;
  if (PoolOf(event.worker) == Pool::kLaunched)
    return CountLaunchFailure(asked_at, event.error, event.is_unfit);
  CountSpawnFailure(event.error);
}

// Launches that were asked for before the last counted failure fail with it: one bad submission, or
// one bad machine, is one failure.
void WorkerLifecycle::CountLaunchFailure(absl::Duration asked_at, const std::string& error,
                                         bool is_unfit) {
  if (asked_at >= deps_.fleet.start_failures().launch_failed_at) {
    deps_.fleet.start_failures().launch_failed_at = step_.awake;
    ++deps_.fleet.start_failures().launches;
    deps_.fleet.start_failures().unfit = is_unfit ? deps_.fleet.start_failures().unfit + 1 : 0;
  }
  // The second worker in a row that says that others would fare the same is believed, when no other
  // machine may be better.
  const bool are_unfit = deps_.fleet.start_failures().unfit >= options_.unfit_max &&
                         workers_.alive(Pool::kLaunched) == 0;
  if ((deps_.fleet.start_failures().launches < options_.fleet.failures_max && !are_unfit) ||
      workers_.attached().count() > 0 || workers_.AnyQueued())
    return;
  claimants_.EndAll(
      "no worker would start: " + std::to_string(deps_.fleet.start_failures().launches) +
      " failures in a row, the last: " + error);
}

void WorkerLifecycle::CountSpawnFailure(const std::string& error) {
  if (++deps_.fleet.start_failures().spawns < options_.spawn_failures_max ||
      workers_.attached().count() > 0)
    return;
  claimants_.EndAll(
      "no worker would start: " + std::to_string(deps_.fleet.start_failures().spawns) +
      " failures in a row, the last: " + error);
}

void WorkerLifecycle::OnWorkerPending(const WorkerPending& event) {
  const Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers_.Heard(event.worker, step_.awake);
  claimants_.CountForAll(&Counters::jobs_pending,
                         workers_.SetPending(event.worker, event.attempts,
                                             event.is_held ? &event.begun : nullptr, step_.awake));
}

void WorkerLifecycle::OnWorkerUploads(const WorkerUploads& event) {
  const Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers_.Heard(event.worker, step_.awake);
  for (const AttemptId attempt : event.attempts) NoteUploading(event.worker, attempt);
}

// An attempt of an earlier director may come to the worker's hand later.
void WorkerLifecycle::NoteUploading(WorkerId worker, AttemptId attempt) {
  if (workers_.Find(worker)->jobs.Contains(attempt) || deps_.resumed_attempts.IsResumed(attempt))
    workers_.SetUploading(worker, attempt, step_.awake);
}

void WorkerLifecycle::OnWorkerUnfit(const WorkerUnfit& event) {
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  // Failures of workers that the core asked for are counted below, and end the cook by that count.
  if (PoolOf(event.worker) == Pool::kForeign)
    deps_.breakers.AddFault(event.worker, PackageId(), event.reason);
  deps_.worker_loss.Lose(event.worker);
  deps_.job_returns.GiveBack(event.worker);
  if (PoolOf(event.worker) == Pool::kLocal) CountSpawnFailure(event.reason);
  if (PoolOf(event.worker) == Pool::kLaunched) CountLaunchFailure(worker->asked_at, event.reason);
}

void WorkerLifecycle::OnDrainAsked(const DrainAsked& event) {
  for (const WorkerId id : event.workers) {
    const Worker* worker = workers_.Find(id);
    if (worker != nullptr && worker->presence == Worker::Presence::kAttached)
      deps_.worker_loss.Drain(id);
  }
}

void WorkerLifecycle::OnWorkerAlive(const WorkerAlive& event) {
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr) return;
  workers_.Heard(event.worker, step_.awake);
  if (event.memory_bytes > 0) worker->memory_bytes = event.memory_bytes;
}

void WorkerLifecycle::LoseTheSilent() {
  for (const WorkerId worker : workers_.Silent(step_.awake)) {
    effects_.stops.push_back({worker});
    OnWorkerLost({.worker = worker,
                  .reason = "nothing was heard of it for too long; it was killed",
                  .is_infrastructure = true});
  }
}

}  // namespace galley::director
