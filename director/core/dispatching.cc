// Workers come and go; jobs are handed over.
#include <algorithm>

#include "common/base/sabotage.h"
#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

constexpr int kTermShift = 40;

}  // namespace

Desire& CookCore::Impl::DesireFor(WorkerId worker) {
  Desire& desire = turn.desires[worker];
  desire.worker = worker;
  return desire;
}

void CookCore::Impl::Acknowledge(WorkerId id, ReportId report) {
  Worker* worker = workers.Find(id);
  if (worker == nullptr) return;
  worker->unacknowledged.erase(report);
  // One that is lost sends it again if it ever comes back, and is answered then.
  if (worker->presence == Worker::Presence::kAttached) DesireFor(id).persisted.push_back(report);
}

// Of the platforms that are to be cooked; one of which nothing is known is taken for the mean of
// the others.
absl::Duration CookCore::Impl::CostOf(PackageId id) const {
  absl::Duration load, saves;
  int known = 0;
  int unknown = 0;
  for (const Slot& slot : packages[id].slots) {
    if (slot.phase != Phase::kToCook) continue;
    const bool is_known = slot.last_save > absl::ZeroDuration();
    (is_known ? known : unknown) += 1;
    saves += slot.last_save;
    load = std::max(load, slot.last_load);  // done once for all
  }
  if (known == 0) return costs.Guess(packages[id].cost_traits);
  return load + saves + saves / known * unknown;
}

// The last cook's peak, or what this cook measured of its kind; not more than it may take.
uint64_t CookCore::Impl::MemoryOf(PackageId id) const {
  const Work& work = *packages[id].work;
  uint64_t bytes = work.memory_last;
  if (bytes == 0) bytes = costs.GuessMemory(packages[id].cost_traits);
  return bytes == 0 || work.memory_max == 0 ? std::max(bytes, work.memory_max)
                                            : std::min(bytes, work.memory_max);
}

void CookCore::Impl::OnWorkerAttached(const WorkerAttached& event) {
  const Worker* before = workers.Find(event.worker);
  if (before == nullptr || !(before->was_attached || before->is_survivor))
    ++counters.workers_started;
  const size_t running = before == nullptr ? 0 : before->hand.running().size();
  const bool is_new_process = before == nullptr || before->session != event.session;
  Worker& worker = workers.Attach(event.worker, event.slots, awake);
  worker.memory_bytes = event.memory_bytes;
  counters.jobs_pending += workers.SetPending(event.worker, event.pending,
                                              event.is_held ? &event.begun : nullptr, awake);
  if (is_new_process) {
    worker.BeginSession(event.session, event.persisted);
    warmth.Forget(event.worker);  // its executors are others
    ForgetRetractedOf(event.worker);
    // Those who wait for these answers are gone; their numbers will be another's.
    for (auto& entry : commits) {
      std::erase_if(entry.second.reports,
                    [&](const auto& report) { return report.first == event.worker; });
    }
  }
  counters.workers_attached = workers.attached();
  if (IsSabotaged(Sabotage::kForgetInFlight)) return;
  Resume(event);
  for (const AttemptId attempt : event.in_hand) {
    if (!worker.hand.Contains(attempt) && !IsResumed(attempt))
      DesireFor(event.worker).cancel.push_back(attempt);
  }
  // What it should have and has not was lost on the way to it, or with the process before it: what
  // was merely queued there had no part in that.
  const std::vector<AttemptId> in_hand = worker.hand.All();
  for (size_t i = 0; i < in_hand.size(); ++i) {
    const AttemptId attempt = in_hand[i];
    if (Current(attempt) == nullptr ||
        std::find(event.in_hand.begin(), event.in_hand.end(), attempt) != event.in_hand.end())
      continue;
    const Attempt lost = attempts.at(attempt);
    EndAttempt(attempt, Tell::kCancel);
    if (is_new_process && i >= running) {
      ++counters.jobs_retried;
    } else {
      BlameInfrastructure(lost.package, lost.remaining,
                          is_new_process ? "another process took the place of its worker"
                                         : "it was lost on the way to its worker",
                          "");
    }
    Advance(lost.package);
  }
}

void CookCore::Impl::OnWorkerLost(const WorkerLost& event) {
  Worker* worker = workers.Find(event.worker);
  if (worker == nullptr || worker->presence == Worker::Presence::kLost) return;
  if (worker->presence == Worker::Presence::kStarting) {
    return OnLauncherReported({event.worker, "it ended before it attached: " + event.reason});
  }
  workers.SetLost(event.worker);
  warmth.Forget(event.worker);
  ForgetResumedOf(event.worker);
  ForgetRetractedOf(event.worker);
  ++counters.workers_lost;
  ++losses;
  counters.workers_attached = workers.attached();
  const size_t running = worker->hand.running().size();
  const std::vector<AttemptId> in_hand = worker->hand.All();
  for (size_t i = 0; i < in_hand.size(); ++i) {
    if (Current(in_hand[i]) == nullptr) continue;  // a failure further up ended the cook
    const Attempt attempt = attempts.at(in_hand[i]);
    EndAttempt(in_hand[i], Tell::kNothing);
    if (i >= running) {
      ++counters.jobs_retried;  // it was merely queued there
    } else if (event.is_infrastructure) {
      BlameInfrastructure(attempt.package, attempt.remaining, "worker lost: " + event.reason, "");
    } else {
      const uint32_t count = CountOwnFault(
          attempt.package, event.worker,
          {.fault = WorkerReport::Fault::kCrashed, .error = "worker lost: " + event.reason});
      ++counters.jobs_retried;
      if (count >= options.own_fault_attempts_max) {
        FailPlatforms(attempt.package, attempt.remaining, Stage::kLoad,
                      "its worker was lost (" + std::to_string(count) +
                          " attempts ended so); quarantined for this cook: " + event.reason,
                      "", FailureCause::kPackage, in_hand[i]);
      }
    }
    Advance(attempt.package);
  }
}

void CookCore::Impl::OnLauncherReported(const LauncherReported& event) {
  Worker* worker = workers.Find(event.worker);
  if (worker == nullptr || event.error.empty() || worker->presence != Worker::Presence::kStarting)
    return;
  const bool is_survivor = worker->is_survivor;
  ForgetResumedOf(event.worker);
  workers.SetLost(event.worker);
  if (!is_survivor) CountSpawnFailure(event.error);
}

void CookCore::Impl::CountSpawnFailure(const std::string& error) {
  if (++spawn_failures < options.spawn_failures_max || workers.attached() > 0 ||
      !request.has_value())
    return;
  End("no worker would start: " + std::to_string(spawn_failures) +
      " failures in a row, the last: " + error);
}

void CookCore::Impl::OnWorkerPending(const WorkerPending& event) {
  const Worker* worker = workers.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers.Heard(event.worker, awake);
  counters.jobs_pending += workers.SetPending(event.worker, event.attempts,
                                              event.is_held ? &event.begun : nullptr, awake);
}

void CookCore::Impl::OnWorkerUnfit(const WorkerUnfit& event) {
  Worker* worker = workers.Find(event.worker);
  if (worker == nullptr || worker->presence != Worker::Presence::kAttached) return;
  workers.SetLost(event.worker);
  warmth.Forget(event.worker);
  ForgetResumedOf(event.worker);
  ForgetRetractedOf(event.worker);
  ++counters.workers_lost;
  counters.workers_attached = workers.attached();
  for (const AttemptId attempt : worker->hand.All()) {
    if (Current(attempt) == nullptr) continue;
    const PackageId package = attempts.at(attempt).package;
    EndAttempt(attempt, Tell::kNothing);
    Advance(package);
  }
  CountSpawnFailure(event.reason);
}

void CookCore::Impl::OnWorkerAlive(const WorkerAlive& event) {
  Worker* worker = workers.Find(event.worker);
  if (worker == nullptr) return;
  workers.Heard(event.worker, awake);
  if (event.memory_bytes > 0) worker->memory_bytes = event.memory_bytes;
}

void CookCore::Impl::LoseTheSilent() {
  for (const WorkerId worker : workers.Silent(awake)) {
    turn.stops.push_back({worker});
    OnWorkerLost({.worker = worker,
                  .reason = "nothing was heard of it for too long; it was killed",
                  .is_infrastructure = true});
  }
}

bool CookCore::Impl::HasLoadWork() const {
  return !lifecycle.loads().empty() || !lifecycle.saves().empty() || lifecycle.has_backing_off() ||
         workers.jobs_in_hand() > 0;
}

void CookCore::Impl::KeepWorkers() {
  const uint32_t failures = std::max(spawn_failures, losses);
  for (uint32_t alive = workers.alive(); alive < options.workers; ++alive) {
    const absl::Duration delay = failures == 0 ? absl::ZeroDuration() : BackOff(failures);
    turn.spawns.push_back({workers.AddOwn(awake + delay), delay});
  }
}

// The next package whose resources are free; those found on the way whose are not go to the save
// queue. Invalid: none.
PackageId CookCore::Impl::NextJob() {
  const auto is_free = [&](uint32_t group) { return grants.IsFree(group); };
  while (true) {
    const PackageId stalled = lifecycle.saves().Best(is_free);
    if (lifecycle.loads().empty()) return stalled;
    const PackageId next = lifecycle.loads().Top();
    if (WaitsToBeAlone(next)) return stalled.valid() ? stalled : next;
    if (stalled.valid() && packages[stalled].urgency >= lifecycle.loads().TopUrgency())
      return stalled;
    if (grants.IsFree(packages[next].resource_group)) return next;
    lifecycle.SetState(next, State::kSaveStalled, "its resources are taken");
  }
}

bool CookCore::Impl::HasBlockingJob() const {
  const auto is_free = [&](uint32_t group) { return grants.IsFree(group); };
  const PackageId stalled = lifecycle.saves().Best(is_free);
  return (stalled.valid() && packages[stalled].urgency == Urgency::kBlocking) ||
         (!lifecycle.loads().empty() && lifecycle.loads().TopUrgency() == Urgency::kBlocking);
}

void CookCore::Impl::Dispatch() {
  if (!request.has_value() || ending != Ending::kNone) return;
  DropUnwanted();
  if (!HasLoadWork()) return;
  KeepWorkers();
  if (IsAloneForTooLong()) EndAloneness();
  if (alone != 0 && !HasBlockingJob()) return;
  if (alone == 0) HandOverKept();
  std::vector<PackageId> aside;
  // (A quarantined package may end it.)
  while (ending == Ending::kNone && (!workers.with_room().empty() || HasBlockingJob())) {
    const PackageId package = NextJob();
    if (!package.valid()) break;
    if (alone != 0 && packages[package].urgency != Urgency::kBlocking) break;
    const bool runs_alone = WaitsToBeAlone(package);
    if (runs_alone && !IsAllElseDone()) break;
    if (Quarantine(package) || TakeUpResumed(package)) continue;
    if (runs_alone) {
      HandOverAlone(package);
      break;
    }
    const Placement at = Place(package);
    if (at.worker.valid()) {
      HandOver(package, at);
    } else if (!SetAside(package, aside)) {
      break;
    }
  }
  for (const PackageId package : aside) lifecycle.Refresh(package);
  if (ending != Ending::kNone || alone != 0) return;
  Balance();
  if (!IsTimeToLook()) return;
  Split();
  BackUpStragglers();
}

void CookCore::Impl::HandOver(PackageId id, const Placement& at) {
  const absl::Duration expected = CostOf(id);
  const PlatformMask platforms = PutInHand(id);
  SetHandedOver(id, Give(id, at, platforms, expected));
}

PlatformMask CookCore::Impl::PutInHand(PackageId id) {
  if (packages[id].state == State::kSaveStalled) lifecycle.SetState(id, State::kLoad, "granted");
  const PlatformMask platforms = InPhase(id, Phase::kToCook);
  for (PlatformIndex p = 0; p < packages[id].slots.size(); ++p) {
    if (platforms & MaskOf(p)) lifecycle.SetPhase(id, p, Phase::kInHand);
  }
  return platforms;
}

void CookCore::Impl::SetHandedOver(PackageId id, AttemptId attempt) {
  Work& work = *packages[id].work;
  work.attempt = attempt;
  work.handed = now;
  work.aside_since = absl::InfiniteFuture();
  ++work.attempts;
  work.is_loaded = attempts.at(attempt).is_loaded;
  lifecycle.Refresh(id);
}

// REQUIRES: its package, worker, group and expected time are known.
void CookCore::Impl::Hold(AttemptId id, const Attempt& attempt) {
  EndAloneness();
  grants.Acquire(attempt.group);
  warmth.Note(attempt.worker, InputsOf(attempt.package));
  counters.jobs_pending += workers.Take(attempt.worker, id,
                                        {.urgency = packages[attempt.package].urgency,
                                         .expected = attempt.expected,
                                         .memory_bytes = MemoryOf(attempt.package)},
                                        awake);
}

AttemptId CookCore::Impl::Give(PackageId id, const Placement& at, PlatformMask platforms,
                               absl::Duration expected) {
  const PackageData& package = packages[id];
  const AttemptId attempt_id =
      (static_cast<AttemptId>(options.term) << kTermShift) | ++attempt_count;
  const Attempt attempt{.package = id,
                        .worker = at.worker,
                        .platform_set = platform_sets.present(),
                        .granted = platforms,
                        .remaining = platforms,
                        .epoch = epoch,
                        .generation = package.generation,
                        .group = package.resource_group,
                        .expected = expected,
                        .saved = at.saved};
  Desire::Start start{.attempt = attempt_id,
                      .package = id,
                      .platforms = platforms,
                      .cooked = {},
                      .expected = expected,
                      .memory_bytes = MemoryOf(id),
                      .urgency = package.urgency,
                      .is_awaited = IsAwaited(id),
                      .runs_alone = package.work->runs_alone};
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (!(platforms & MaskOf(p))) continue;
    for (const PackageId input : package.cooked_inputs) {
      if (AvailabilityOf(input, p) != Availability::kReady) continue;
      start.cooked.push_back({input, p, packages[input].slots[p].result->id});
    }
  }
  Hold(attempt_id, attempt);
  attempts.emplace(attempt_id, attempt);
  DesireFor(at.worker).start.push_back(std::move(start));
  return attempt_id;
}

}  // namespace galley::director
