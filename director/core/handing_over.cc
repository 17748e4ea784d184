#include "director/core/handing_over.h"

#include "director/core/core.h"

namespace galley::director {

void HandingOver::HandOver(PackageId id, const Placement& at) {
  const absl::Duration expected = CostOf(packages_[id], core_.costs);
  const PlatformMask platforms =
      PutInHand(id, ~core_.held_results.NotFor(*workers_.Find(at.worker), id));
  SetHandedOver(id, Give(id, at, platforms, expected));
}

PlatformMask HandingOver::PutInHand(PackageId id, PlatformMask of) {
  if (packages_[id].state == State::kSaveStalled) lifecycle().SetState(id, State::kLoad, "granted");
  const PlatformMask platforms = InPhase(packages_[id], Phase::kToCook) & of;
  for (PlatformIndex p = 0; p < packages_[id].slots.size(); ++p) {
    if (platforms & MaskOf(p)) lifecycle().SetPhase(id, p, Phase::kInHand);
  }
  return platforms;
}

void HandingOver::SetHandedOver(PackageId id, AttemptId attempt) {
  Work& work = *packages_[id].work;
  work.attempt = attempt;
  work.handed = today_.now;
  work.aside_since = absl::InfiniteFuture();
  ++work.attempts;
  work.is_loaded = core_.attempts.at(attempt).is_loaded;
  lifecycle().Refresh(id);
}

// REQUIRES: the attempt's package, worker, group and expected time are known.
void HandingOver::Hold(AttemptId id, const Attempt& attempt) {
  core_.attempts.EndAlone();
  const Urgency urgency = core_.job_queue.UrgencyOf(attempt.package);
  core_.job_queue.Account(attempt.package,
                          attempt.expected);  // what others wait for, too, is free until here
  core_.grants.Acquire(id, attempt.group, attempt.worker);
  core_.warmth.Note(attempt.worker, core_.placing.InputsOf(attempt.package));
  const uint64_t pending =
      workers_.Take(attempt.worker, id,
                    {.urgency = urgency,
                     .expected = attempt.expected,
                     .memory_bytes = MemoryOf(packages_[attempt.package], core_.costs)},
                    today_.awake);
  claimants_.CountForAll(&Counters::jobs_pending, pending);
}

AttemptId HandingOver::Give(PackageId id, const Placement& at, PlatformMask platforms,
                            absl::Duration expected) {
  const PackageData& package = packages_[id];
  const AttemptId attempt_id = core_.attempts.NewId();
  const Attempt attempt{.package = id,
                        .worker = at.worker,
                        .platform_set = today_.platform_sets.present(),
                        .granted = platforms,
                        .remaining = platforms,
                        .epoch = today_.epoch,
                        .content = package.content,
                        .group = package.resource_group,
                        .expected = expected,
                        .saved = at.saved};
  Desire::Start start{.attempt = attempt_id,
                      .package = id,
                      .platforms = platforms,
                      .cooked = {},
                      .expected = expected,
                      .memory_bytes = MemoryOf(packages_[id], core_.costs),
                      .urgency = core_.job_queue.UrgencyOf(id),
                      .is_awaited = core_.following.IsAwaited(id),
                      .runs_alone = package.work->runs_alone};
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (!(platforms & MaskOf(p))) continue;
    for (const PackageId input : package.cooked_inputs) {
      if (core_.waits.AvailabilityOf(input, p) != Waits::Availability::kReady) continue;
      start.cooked.push_back({input, p, packages_[input].slots[p].result->id});
    }
  }
  Hold(attempt_id, attempt);
  core_.attempts.Add(attempt_id, attempt);
  core_.breakers.NoteGiven(at.worker, attempt_id);
  DesireFor(at.worker).start.push_back(std::move(start));
  return attempt_id;
}

// A job that a worker of an earlier director has may go on somewhere; but it may never be heard of
// again, and is not waited for.
void HandingOver::HandOverAlone(PackageId id) {
  const Placement at = core_.placing.Place(id);
  if (!at.worker.valid()) return;
  core_.attempts.CancelAllRetracted();
  HandOver(id, at);
  if (!core_.resumed_attempts.empty()) return;
  core_.attempts.SetAlone(packages_[id].work->attempt);
}

}  // namespace galley::director
