#include "director/core/workers/job_handover.h"

#include "director/core/packages/job_costs.h"

namespace galley::director {

void JobHandover::HandOver(PackageId id, const Placement& at) {
  const absl::Duration expected = CostOf(packages_[id], deps_.costs);
  const PlatformMask platforms =
      PutInHand(id, ~deps_.held_results.NotFor(*workers_.Find(at.worker), id));
  SetHandedOver(id, Give(id, at, platforms, expected));
}

PlatformMask JobHandover::PutInHand(PackageId id, PlatformMask of) {
  if (packages_[id].state == State::kSaveStalled)
    graph_.lifecycle().SetState(id, State::kLoad, "granted");
  const PlatformMask platforms = InPhase(packages_[id], Phase::kToCook) & of;
  for (PlatformIndex p = 0; p < packages_[id].slots.size(); ++p) {
    if (platforms & MaskOf(p)) graph_.lifecycle().SetPhase(id, p, Phase::kInHand);
  }
  return platforms;
}

void JobHandover::SetHandedOver(PackageId id, AttemptId attempt) {
  Work& work = *packages_[id].work;
  work.attempt = attempt;
  work.handed = step_.now;
  work.aside_since = absl::InfiniteFuture();
  ++work.attempts;
  work.is_loaded = deps_.attempts.at(attempt).is_loaded;
  graph_.lifecycle().Refresh(id);
}

// REQUIRES: the attempt's package, worker, group and expected time are known.
void JobHandover::Hold(AttemptId id, const Attempt& attempt) {
  deps_.attempts.EndAlone();
  const Urgency urgency = deps_.job_queue.UrgencyOf(attempt.package);
  deps_.job_queue.Account(attempt.package,
                          attempt.expected);  // shared resources are free until here
  deps_.grants.Acquire(id, attempt.group, attempt.worker);
  deps_.input_affinity.Note(attempt.worker, deps_.worker_choice.InputsOf(attempt.package));
  const bool is_spare = packages_[attempt.package].urgency == Urgency::kSpare;
  counts_.figures.ahead_begun += is_spare;
  if (!is_spare) handed_over_at_ = step_.awake;
  const uint64_t pending =
      workers_.Take(attempt.worker, id,
                    {.urgency = urgency,
                     .expected = attempt.expected,
                     .memory_bytes = MemoryOf(packages_[attempt.package], deps_.costs),
                     .is_spare = is_spare},
                    step_.awake);
  claimants_.CountForAll(&Counters::jobs_pending, pending);
}

AttemptId JobHandover::Give(PackageId id, const Placement& at, PlatformMask platforms,
                            absl::Duration expected) {
  const PackageData& package = packages_[id];
  const AttemptId attempt_id = deps_.attempts.NewId();
  const Attempt attempt{.package = id,
                        .worker = at.worker,
                        .platform_set = step_.platform_sets.present(),
                        .granted = platforms,
                        .remaining = platforms,
                        .epoch = step_.epoch,
                        .content = package.content,
                        .group = package.resource_group,
                        .expected = expected,
                        .saved = at.saved};
  Desire::Start start{.attempt = attempt_id,
                      .package = id,
                      .platforms = platforms,
                      .cooked = {},
                      .expected = expected,
                      .memory_bytes = MemoryOf(packages_[id], deps_.costs),
                      .urgency = deps_.job_queue.UrgencyOf(id),
                      .is_awaited = deps_.equal_work_followers.IsAwaited(id),
                      .runs_alone = package.work->runs_alone};
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (!(platforms & MaskOf(p))) continue;
    for (const PackageId input : package.cooked_inputs) {
      if (deps_.waits.AvailabilityOf(input, p) != Waits::Availability::kReady) continue;
      start.cooked.push_back({input, p, packages_[input].slots[p].result->id});
    }
  }
  Hold(attempt_id, attempt);
  deps_.attempts.Add(attempt_id, attempt);
  deps_.breakers.NoteGiven(at.worker, attempt_id);
  effects_.DesireFor(at.worker).start.push_back(std::move(start));
  return attempt_id;
}

// A job that a worker of an earlier director has may go on somewhere; but the job may never be
// heard of again, and is not waited for.
void JobHandover::HandOverAlone(PackageId id) {
  const Placement at = deps_.worker_choice.Place(id);
  if (!at.worker.valid()) return;
  deps_.attempts.CancelAllRetracted();
  HandOver(id, at);
  if (!deps_.resumed_attempts.empty()) return;
  deps_.attempts.SetAlone(packages_[id].work->attempt);
}

}  // namespace galley::director
