#include "director/core/worker_lives.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "director/core/core.h"

namespace galley::director {
void WorkerLives::Acknowledge(WorkerId id, ReportId report) {
  Worker* worker = workers_.Find(id);
  if (worker == nullptr) return;
  worker->unacknowledged.erase(report);
  ForgetEnded(*worker);
  // A lost worker sends the report again if it ever comes back, and is answered then.
  if (worker->presence == Worker::Presence::kAttached) DesireFor(id).persisted.push_back(report);
}

void WorkerLives::NoteEnded(WorkerId id, ReportId report, AttemptId attempt) {
  workers_.Find(id)->ended.emplace(report, attempt);
}

void WorkerLives::ForgetEnded(Worker& worker) {
  while (!worker.ended.empty() && worker.IsSettled(worker.ended.begin()->first)) {
    const AttemptId ended = worker.ended.begin()->second;
    worker.ended.erase(worker.ended.begin());
    if (core_.attempts.Find(ended) != nullptr) core_.attempts.Forget(ended);
  }
}

PoolFigures& WorkerLives::PoolCounts(WorkerId worker) const {
  return core_.counted.pools[static_cast<size_t>(PoolOf(worker))];
}

// (Those that launchers bring up may come anywhere.)
bool WorkerLives::ExpectsBeside(uint32_t machine) const {
  constexpr absl::Duration kExpectedMax = absl::Minutes(1);
  return std::any_of(workers_.present().begin(), workers_.present().end(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    const bool may_be_elsewhere = PoolOf(id) != Pool::kLocal || machine != Proofs::kHome;
    return worker.presence == Worker::Presence::kStarting && may_be_elsewhere &&
           core_.awake - worker.asked_at < kExpectedMax;
  });
}

void WorkerLives::NoteWorks(WorkerId id) {
  // Each worker counts once: that one works for hours says nothing of others that cannot begin, or
  // that are lost as soon as they have begun.
  if (std::exchange(workers_.Find(id)->has_worked, true)) return;
  spawn_failures_ = launch_failures_ = unfit_ = 0;
  losses_ = 0;
}

void WorkerLives::OnWorkerAttached(const WorkerAttached& event) {
  const Worker* before = workers_.Find(event.worker);
  if (before == nullptr || !(before->was_attached || before->is_survivor)) {
    core_.cooks.CountForAll(&Counters::workers_started);
    ++PoolCounts(event.worker).started;
  }
  const size_t running = before == nullptr ? 0 : before->hand.running().size();
  const bool is_new_process = before == nullptr || before->session != event.session;
  Worker& worker = workers_.Attach(event.worker, event.slots, core_.awake);
  worker.memory_bytes = event.memory_bytes;
  worker.machine = core_.proofs.MachineOf(event.worker, event.machine);
  core_.breakers.NoteAttached(event.worker);
  core_.offers.SetLacks(event.worker, event.lacks);
  core_.offers.SetOffer(event.worker, event.machine, event.offer);
  core_.cooks.CountForAll(&Counters::jobs_pending,
                          workers_.SetPending(event.worker, event.pending,
                                              event.is_held ? &event.begun : nullptr, core_.awake));
  for (const AttemptId attempt : event.uploading) NoteUploading(event.worker, attempt);
  if (is_new_process) {
    worker.BeginSession(event.session, event.persisted);
    worker.refuses.clear();
    workers_.SetDraining(event.worker, false);
    core_.warmth.Forget(event.worker);  // its executors are others
    core_.attempts.ForgetRetractedOf(event.worker);
    core_.commits.ForgetReportsOf(event.worker);
    core_.proofs.ForgetReportsOf(event.worker);
  }
  const bool is_out = core_.proofs.IsQuarantined(event.worker) || worker.has_violated;
  if (is_out) workers_.SetDraining(event.worker, true);
  if (worker.is_draining) {
    DesireFor(event.worker).drain = true;
    DesireFor(event.worker).start_another = PoolOf(event.worker) == Pool::kForeign && !is_out;
  }
  core_.cooks.CountAttached();
  if (IsSabotaged(Sabotage::kForgetInFlight)) return;
  core_.survivors.Resume(event);
  for (const AttemptId attempt : event.in_hand) {
    if (!worker.hand.Contains(attempt) && !core_.survivors.IsResumed(attempt))
      DesireFor(event.worker).cancel.push_back(attempt);
  }
  // Attempts that the worker should have and has not were lost on the way to it, or with the
  // process before it: those that were merely queued there, or done, had no part in its end.
  const std::vector<AttemptId> in_hand = worker.hand.All();
  for (size_t i = 0; i < in_hand.size(); ++i) {
    const AttemptId attempt = in_hand[i];
    if (core_.attempts.Current(attempt) == nullptr ||
        std::find(event.in_hand.begin(), event.in_hand.end(), attempt) != event.in_hand.end())
      continue;
    const Attempt lost = core_.attempts.at(attempt);
    core_.attempts.EndAttempt(attempt, Tell::kCancel);
    if (is_new_process && i >= running) {
      core_.cooks.CountRetry(lost.package, RetryCause::kWorkerLost);
    } else {
      graph().faults.BlameInfrastructure(lost.package, lost.remaining,
                                         is_new_process
                                             ? "another process took the place of its worker"
                                             : "it was lost on the way to its worker",
                                         "", RetryCause::kWorkerLost);
    }
    core_.advancing.Advance(lost.package);
  }
  // An attempt that is over there is told with the next messages; one that never came there is told
  // by nobody.
  for (const AttemptId attempt : worker.given) {
    if (std::find(event.in_hand.begin(), event.in_hand.end(), attempt) == event.in_hand.end())
      core_.attempts.ForgetLater(attempt);
  }
}

void WorkerLives::Lose(WorkerId worker, bool is_in_order) {
  core_.attempts.ForgetLaterOf(worker);
  workers_.SetLost(worker, core_.awake);
  core_.grants.Forget(worker);
  core_.warmth.Forget(worker);
  core_.survivors.ForgetResumedOf(worker);
  core_.attempts.ForgetRetractedOf(worker);
  core_.breakers.NoteLost();
  core_.trust.NoteLost(worker);
  if (!is_in_order) {
    core_.cooks.CountForAll(&Counters::workers_lost);
    ++PoolCounts(worker).lost;
  }
  core_.cooks.CountAttached();
}

void WorkerLives::BeginCook() {
  spawn_failures_ = launch_failures_ = unfit_ = losses_ = 0;
  core_.offers.ForgetRefusals();
  for (const WorkerId worker : workers_.ring()) {
    if (!workers_.Find(worker)->uncommitted.empty()) DesireFor(worker).resend_all = true;
  }
}

void WorkerLives::OnWorkerLost(const WorkerLost& event) {
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence == Worker::Presence::kLost) return;
  if (worker->presence == Worker::Presence::kStarting) {
    return OnLauncherReported({.worker = event.worker,
                               .error = "it ended before it attached: " + event.reason,
                               .is_unfit = event.is_unfit});
  }
  const bool is_in_order = event.is_in_order || (worker->is_draining && worker->hand.empty());
  Lose(event.worker, is_in_order);
  // (Those that came by themselves come and go, and say nothing of those that are started here.)
  if (!is_in_order && !IsForeign(event.worker)) ++losses_;
  const size_t running = worker->hand.running().size();
  const std::vector<AttemptId> in_hand = worker->hand.All();
  for (size_t i = 0; i < in_hand.size(); ++i) {
    if (core_.attempts.Current(in_hand[i]) == nullptr)
      continue;  // a failure before it ended the cook
    const Attempt attempt = core_.attempts.at(in_hand[i]);
    core_.attempts.EndAttempt(in_hand[i], Tell::kNothing);
    if (i >= running) {
      // It was merely queued there, or done but for the way of its outputs.
      core_.cooks.CountRetry(attempt.package, RetryCause::kWorkerLost);
    } else if (event.is_infrastructure) {
      if (!graph().culprits.OnWorkerLost(in_hand[i], attempt, event.reason)) {
        graph().faults.BlameInfrastructure(attempt.package, attempt.remaining,
                                           "worker lost: " + event.reason, "",
                                           RetryCause::kWorkerLost);
      }
    } else {
      const uint32_t count = graph().faults.CountOwnFault(
          attempt.package, event.worker,
          {.fault = WorkerReport::Fault::kCrashed, .error = "worker lost: " + event.reason});
      core_.cooks.CountRetry(attempt.package, RetryCause::kWorkerLost);
      if (count >= options_.own_fault_attempts_max) {
        core_.advancing.FailPlatforms(
            attempt.package, attempt.remaining, Stage::kLoad,
            "its worker was lost (" + std::to_string(count) +
                " attempts ended so); quarantined for this cook: " + event.reason,
            "", FailureCause::kPackage, in_hand[i]);
      }
    }
    core_.advancing.Advance(attempt.package);
  }
  if (!IsForeign(event.worker)) EndIfAllAreLost(event.reason);
}

void WorkerLives::EndIfAllAreLost(const std::string& reason) {
  // (All may be lost at once, with their machine.)
  if (losses_ < std::max(options_.losses_max, options_.losses_of_each_max * core_.fleet.most()))
    return;
  const auto has_worked = [this](WorkerId id) { return workers_.Find(id)->has_worked; };
  if (std::any_of(workers_.ring().begin(), workers_.ring().end(), has_worked)) return;
  core_.cooks.EndAll("no worker lives: " + std::to_string(losses_) +
                     " in a row were lost before they had done anything, the last: " + reason);
}

void WorkerLives::OnLauncherReported(const LauncherReported& event) {
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kStarting) return;
  if (event.state == LauncherReported::State::kQueued) return workers_.SetQueued(event.worker);
  if (event.state == LauncherReported::State::kStarting)
    return workers_.SetBeginning(event.worker, core_.awake);
  if (event.error.empty()) return;
  if (IsSabotaged(Sabotage::kForgetLaunch) && PoolOf(event.worker) == Pool::kLaunched) return;
  const absl::Duration asked_at = worker->asked_at;
  const bool is_survivor = worker->is_survivor;
  core_.survivors.ForgetResumedOf(event.worker);
  core_.attempts.ForgetLaterOf(event.worker);
  workers_.SetLost(event.worker, core_.awake);
  if (is_survivor) return;
  ++PoolCounts(event.worker).launches_failed;
  if (PoolOf(event.worker) == Pool::kLaunched)
    return CountLaunchFailure(asked_at, event.error, event.is_unfit);
  CountSpawnFailure(event.error);
}

// Those that were asked for before the last failure was counted fail with it: one bad submission,
// or one bad machine, is one failure.
void WorkerLives::CountLaunchFailure(absl::Duration asked_at, const std::string& error,
                                     bool is_unfit) {
  if (asked_at >= launch_failed_at_) {
    launch_failed_at_ = core_.awake;
    ++launch_failures_;
    unfit_ = is_unfit ? unfit_ + 1 : 0;
  }
  // (Of those that say themselves that others would fare the same the second is believed, when no
  // other machine may be better.)
  const bool are_unfit = unfit_ >= options_.unfit_max && workers_.alive(Pool::kLaunched) == 0;
  if ((launch_failures_ < options_.fleet.failures_max && !are_unfit) || workers_.attached() > 0 ||
      workers_.AnyQueued())
    return;
  core_.cooks.EndAll("no worker would start: " + std::to_string(launch_failures_) +
                     " failures in a row, the last: " + error);
}

void WorkerLives::CountSpawnFailure(const std::string& error) {
  if (++spawn_failures_ < options_.spawn_failures_max || workers_.attached() > 0) return;
  core_.cooks.EndAll("no worker would start: " + std::to_string(spawn_failures_) +
                     " failures in a row, the last: " + error);
}

void WorkerLives::OnWorkerPending(const WorkerPending& event) {
  const Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers_.Heard(event.worker, core_.awake);
  core_.cooks.CountForAll(&Counters::jobs_pending,
                          workers_.SetPending(event.worker, event.attempts,
                                              event.is_held ? &event.begun : nullptr, core_.awake));
}

void WorkerLives::OnWorkerUploads(const WorkerUploads& event) {
  const Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers_.Heard(event.worker, core_.awake);
  for (const AttemptId attempt : event.attempts) NoteUploading(event.worker, attempt);
}

// (One of an earlier director may come to the worker's hand later.)
void WorkerLives::NoteUploading(WorkerId worker, AttemptId attempt) {
  if (workers_.Find(worker)->hand.Contains(attempt) || core_.survivors.IsResumed(attempt))
    workers_.SetUploading(worker, attempt, core_.awake);
}

void WorkerLives::OnWorkerUnfit(const WorkerUnfit& event) {
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  // (Those that we start are counted below, and end the cook by that count.)
  if (PoolOf(event.worker) == Pool::kForeign)
    core_.breakers.AddFault(event.worker, PackageId(), event.reason);
  Lose(event.worker);
  GiveBack(event.worker);
  if (PoolOf(event.worker) == Pool::kLocal) CountSpawnFailure(event.reason);
  if (PoolOf(event.worker) == Pool::kLaunched) CountLaunchFailure(worker->asked_at, event.reason);
}

// All that it has in hand goes to others, who are not told why. REQUIRES: it was lost just now.
void WorkerLives::GiveBack(WorkerId id) {
  for (const AttemptId attempt : workers_.Find(id)->hand.All()) {
    if (core_.attempts.Current(attempt) == nullptr) continue;
    const PackageId package = core_.attempts.at(attempt).package;
    core_.attempts.EndAttempt(attempt, Tell::kNothing);
    core_.advancing.Advance(package);
  }
}

void WorkerLives::LoseViolator(WorkerId id) {
  const Worker* worker = workers_.Find(id);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  Lose(id);
  GiveBack(id);
}

void WorkerLives::OnDrainAsked(const DrainAsked& event) {
  for (const WorkerId id : event.workers) {
    const Worker* worker = workers_.Find(id);
    if (worker != nullptr && worker->presence == Worker::Presence::kAttached) Drain(id);
  }
}

void WorkerLives::Drain(WorkerId id) {
  workers_.SetDraining(id, true);
  DesireFor(id).drain = true;
  // (Those that launchers started are replaced by these when there is work.)
  DesireFor(id).start_another = PoolOf(id) == Pool::kForeign && !core_.proofs.IsQuarantined(id);
  // What has not begun there goes elsewhere, but for what would hold its resource twice.
  for (const AttemptId attempt : workers_.Find(id)->hand.Queue()) {
    if (core_.attempts.Current(attempt) == nullptr || core_.attempts.at(attempt).group != 0)
      continue;
    const PackageId package = core_.attempts.at(attempt).package;
    core_.attempts.EndAttempt(attempt, Tell::kRetract);
    core_.cooks.Count(package, &Counters::jobs_retracted);
    core_.advancing.Advance(package);
  }
}

void WorkerLives::Dismiss(WorkerId id) {
  const Worker* worker = workers_.Find(id);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers_.SetDraining(id, true);
  DesireFor(id).drain = true;
  for (const AttemptId attempt : worker->hand.All()) {
    if (core_.attempts.Current(attempt) == nullptr) continue;
    const PackageId package = core_.attempts.at(attempt).package;
    core_.attempts.EndAttempt(attempt, Tell::kCancel);
    core_.cooks.Count(package, &Counters::jobs_retried);
    core_.advancing.Advance(package);
  }
}

void WorkerLives::OnWorkerAlive(const WorkerAlive& event) {
  Worker* worker = workers_.Find(event.worker);
  if (worker == nullptr) return;
  workers_.Heard(event.worker, core_.awake);
  if (event.memory_bytes > 0) worker->memory_bytes = event.memory_bytes;
}

void WorkerLives::LoseTheSilent() {
  for (const WorkerId worker : workers_.Silent(core_.awake)) {
    turn_.stops.push_back({worker});
    OnWorkerLost({.worker = worker,
                  .reason = "nothing was heard of it for too long; it was killed",
                  .is_infrastructure = true});
  }
}

}  // namespace galley::director
