#include "director/core/dispatching.h"

#include <algorithm>

#include "common/base/sabotage.h"
#include "director/core/core.h"

namespace galley::director {
bool Dispatching::HasLoadWork() const {
  return !lifecycle().loads().empty() || !lifecycle().saves().empty() ||
         !lifecycle().parked().empty() || lifecycle().has_backing_off() ||
         workers_.jobs_in_hand() > 0;
}

// The next package whose resources are free; packages met on the way whose resources are not free
// go to the save queue. Invalid: none.
PackageId Dispatching::NextJob() {
  while (true) {
    const PackageId next = NextInTurn();
    if (!next.valid() || lifecycle().saves().Contains(next) ||
        graph().aloneness.WaitsToBeAlone(next) || HasResources(next))
      return next;
    lifecycle().SetState(next, State::kSaveStalled, "its resources are taken");
  }
}

// The first of the class whose turn it is, of the jobs whose resources are free, that need none, or
// of which that is not known yet.
PackageId Dispatching::NextInTurn() {
  const LoadQueue& loads = lifecycle().loads();
  lent_ = {};
  const PackageId stalled = FirstStalled(Urgency::kBlocking);
  PackageId next = stalled;
  // All else is to end before the one that waits to be alone; but what has its resource goes on.
  const bool waits_alone = !loads.empty() && graph().aloneness.WaitsToBeAlone(loads.Top());
  if (!loads.empty() && !(waits_alone && stalled.valid()) &&
      (!stalled.valid() || packages_[stalled].urgency < loads.TopUrgency()))
    next = loads.Top();
  if (!next.valid() || packages_[next].work->runs_alone) return next;
  const Urgency urgency = packages_[next].urgency;
  while (true) {
    const size_t of_class = Shares::ClassOf(packages_[next].urgency);
    if (of_class == 0) break;
    const Urgency below = Shares::UrgencyBelow(of_class);
    const PackageId lower = waits_alone ? FirstStalled(below) : FirstAtMost(below);
    if (!lower.valid() || IsSabotaged(Sabotage::kStarveClass)) break;
    if (graph().aloneness.WaitsToBeAlone(lower)) break;  // it has no turn before those above it
    const bool is_held_up =
        urgency == Urgency::kBlocking && IsSabotaged(Sabotage::kHoldUpNow) && lent_.package != next;
    if (!core_.shares.IsTurnOfLower(of_class, CostOf(lower)) && !is_held_up) break;
    next = lower;
    lent_ = {next, urgency};
  }
  return next;
}

// (One whose job from before may go on has what it needs: Survivors::TakeUp looks at that.)
bool Dispatching::HasResources(PackageId package) const {
  const uint32_t group = packages_[package].resource_group;
  if (group == 0 || core_.survivors.Has(package)) return true;
  return !core_.survivors.is_unsure() && core_.grants.IsFree(group) &&
         core_.reservations.MayTake(package);
}

// The first that waits for resources which are free by now and that is not more urgent.
PackageId Dispatching::FirstStalled(Urgency urgency) const {
  return lifecycle().saves().BestAtMost(
      urgency, [&](uint32_t, PackageId first) { return HasResources(first); });
}

// The first of these, and of those that were not asked yet and need not run alone.
PackageId Dispatching::FirstAtMost(Urgency urgency) const {
  const PackageId stalled = FirstStalled(urgency);
  const PackageId load = lifecycle().loads().TopAtMost(urgency);
  if (!stalled.valid() || !load.valid()) return stalled.valid() ? stalled : load;
  return packages_[stalled].urgency >= packages_[load].urgency ? stalled : load;
}

// A job that has its turn before more urgent ones is not overtaken by them at its worker.
Urgency Dispatching::UrgencyOf(PackageId id) const {
  return lent_.package == id ? lent_.urgency : packages_[id].urgency;
}

// What the job's class owes to lower ones, and what higher ones owe to it.
void Dispatching::Account(PackageId id, absl::Duration expected) {
  const size_t of_class = Shares::ClassOf(packages_[id].urgency);
  if (of_class > 0 && FirstAtMost(Shares::UrgencyBelow(of_class)).valid())
    core_.shares.Earn(of_class, expected);
  if (lent_.package != id) return;
  for (size_t above = of_class + 1; above <= Shares::ClassOf(lent_.urgency); ++above)
    core_.shares.Spend(above, expected);
  lent_ = {};
}

bool Dispatching::HasBlockingJob() const {
  const PackageId stalled = FirstStalled(Urgency::kBlocking);
  return (stalled.valid() && packages_[stalled].urgency == Urgency::kBlocking) ||
         (!lifecycle().loads().empty() && lifecycle().loads().TopUrgency() == Urgency::kBlocking);
}

void Dispatching::HandOverAll() {
  if (core_.cooks.active() == 0) return;
  core_.survivors.DropUnwanted();
  core_.survivors.HoldResources();
  if (!HasLoadWork()) return;
  core_.offers.ParkForHelpers();
  core_.fleet.Keep();
  core_.reservations.Look();
  core_.offers.Unpark();
  Aloneness& aloneness = graph().aloneness;
  if (aloneness.IsForTooLong()) aloneness.End();
  if (aloneness.attempt() != 0 && !HasBlockingJob()) return;
  if (aloneness.attempt() == 0) {
    graph().large_jobs.LookAtParked();
    graph().large_jobs.HandOverKept();
  }
  std::vector<PackageId> aside;
  // (A package that is quarantined may end a cook, which gives up others.)
  while (!core_.cooks.has_stopped() && (!workers_.with_room().empty() || HasBlockingJob())) {
    const PackageId package = NextJob();
    if (!package.valid()) break;
    if (aloneness.attempt() != 0 && packages_[package].urgency != Urgency::kBlocking) break;
    const bool runs_alone = aloneness.WaitsToBeAlone(package);
    if (runs_alone && !aloneness.IsAllElseDone()) break;
    if (graph().faults.Quarantine(package) || core_.survivors.TakeUp(package)) continue;
    if (runs_alone) {
      // (What a job from before holds is not waited for.)
      if (!HasResources(package)) core_.survivors.CancelResumed();
      if (!core_.placing.Place(package).worker.valid() && core_.offers.Park(package)) continue;
      aloneness.HandOver(package);
      break;
    }
    const Placement at = core_.placing.Place(package);
    if (at.worker.valid()) {
      HandOver(package, at);
    } else if (!core_.offers.Park(package) && !graph().culprits.PutOff(package) &&
               !graph().large_jobs.SetAside(package, aside)) {
      break;
    }
  }
  lent_ = {};
  for (const PackageId package : aside) lifecycle().Refresh(package);
  if (aloneness.attempt() == 0 && core_.cooks.has_several_classes()) Overtake();
  if (core_.cooks.has_stopped() || aloneness.attempt() != 0) return;
  core_.balancing.Balance();
  const bool are_any_doubtful = core_.trust.Look();
  const bool is_anybody_free = core_.stragglers.IsTimeToLook();
  if (is_anybody_free) core_.splitting.Split();
  if (is_anybody_free || are_any_doubtful) core_.stragglers.BackUp();
}

// No worker has room; but what waits there is of lower classes. A job of a higher class waits
// before that, at each worker as many as it has slots: one of them begins when any job there ends.
void Dispatching::Overtake() {
  while (!core_.cooks.has_stopped() && !lifecycle().loads().empty() && !core_.trust.HasRoom()) {
    const PackageId package = NextJob();
    if (!package.valid() || packages_[package].work->runs_alone) break;
    const WorkerId worker = core_.placing.PlaceBefore(package, UrgencyOf(package));
    if (!worker.valid()) break;
    if (graph().faults.Quarantine(package) || core_.survivors.TakeUp(package)) continue;
    HandOver(package, {.worker = worker});
  }
  lent_ = {};
}

void Dispatching::HandOver(PackageId id, const Placement& at) {
  const absl::Duration expected = CostOf(id);
  const PlatformMask platforms = PutInHand(id, ~core_.proofs.NotFor(*workers_.Find(at.worker), id));
  SetHandedOver(id, Give(id, at, platforms, expected));
}

PlatformMask Dispatching::PutInHand(PackageId id, PlatformMask of) {
  if (packages_[id].state == State::kSaveStalled) lifecycle().SetState(id, State::kLoad, "granted");
  const PlatformMask platforms = core_.advancing.InPhase(id, Phase::kToCook) & of;
  for (PlatformIndex p = 0; p < packages_[id].slots.size(); ++p) {
    if (platforms & MaskOf(p)) lifecycle().SetPhase(id, p, Phase::kInHand);
  }
  return platforms;
}

void Dispatching::SetHandedOver(PackageId id, AttemptId attempt) {
  Work& work = *packages_[id].work;
  work.attempt = attempt;
  work.handed = core_.now;
  work.aside_since = absl::InfiniteFuture();
  ++work.attempts;
  work.is_loaded = core_.attempts.at(attempt).is_loaded;
  lifecycle().Refresh(id);
}

// REQUIRES: the attempt's package, worker, group and expected time are known.
void Dispatching::Hold(AttemptId id, const Attempt& attempt) {
  graph().aloneness.End();
  const Urgency urgency = UrgencyOf(attempt.package);
  Account(attempt.package, attempt.expected);  // what others wait for, too, is free until here
  core_.grants.Acquire(id, attempt.group, attempt.worker);
  core_.warmth.Note(attempt.worker, core_.placing.InputsOf(attempt.package));
  const uint64_t pending = workers_.Take(
      attempt.worker, id,
      {.urgency = urgency, .expected = attempt.expected, .memory_bytes = MemoryOf(attempt.package)},
      core_.awake);
  core_.cooks.CountForAll(&Counters::jobs_pending, pending);
}

AttemptId Dispatching::Give(PackageId id, const Placement& at, PlatformMask platforms,
                            absl::Duration expected) {
  const PackageData& package = packages_[id];
  const AttemptId attempt_id = core_.attempts.NewId();
  const Attempt attempt{.package = id,
                        .worker = at.worker,
                        .platform_set = core_.platform_sets.present(),
                        .granted = platforms,
                        .remaining = platforms,
                        .epoch = core_.epoch,
                        .content = package.content,
                        .group = package.resource_group,
                        .expected = expected,
                        .saved = at.saved};
  Desire::Start start{.attempt = attempt_id,
                      .package = id,
                      .platforms = platforms,
                      .cooked = {},
                      .expected = expected,
                      .memory_bytes = MemoryOf(id),
                      .urgency = UrgencyOf(id),
                      .is_awaited = core_.following.IsAwaited(id),
                      .runs_alone = package.work->runs_alone};
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (!(platforms & MaskOf(p))) continue;
    for (const PackageId input : package.cooked_inputs) {
      if (core_.waiting.AvailabilityOf(input, p) != Waiting::Availability::kReady) continue;
      start.cooked.push_back({input, p, packages_[input].slots[p].result->id});
    }
  }
  Hold(attempt_id, attempt);
  core_.attempts.Add(attempt_id, attempt);
  core_.breakers.NoteGiven(at.worker, attempt_id);
  DesireFor(at.worker).start.push_back(std::move(start));
  return attempt_id;
}

// The expected time of the platforms that are to be cooked; a platform of which nothing is known is
// taken for the mean of the others.
absl::Duration Dispatching::CostOf(PackageId id) const {
  absl::Duration load, saves;
  int known = 0;
  int unknown = 0;
  for (const Slot& slot : packages_[id].slots) {
    if (slot.phase != Phase::kToCook) continue;
    const bool is_known = slot.last_save > absl::ZeroDuration();
    (is_known ? known : unknown) += 1;
    saves += slot.last_save;
    load = std::max(load, slot.last_load);  // done once for all
  }
  if (known == 0) return core_.costs.Guess(packages_[id].cost_traits);
  return load + saves + saves / known * unknown;
}

// The last cook's peak, or what this cook measured of its kind; not more than it may take.
uint64_t Dispatching::MemoryOf(PackageId id) const {
  const Work& work = *packages_[id].work;
  uint64_t bytes = work.memory_last;
  if (bytes == 0) bytes = core_.costs.GuessMemory(packages_[id].cost_traits);
  return bytes == 0 || work.memory_max == 0 ? std::max(bytes, work.memory_max)
                                            : std::min(bytes, work.memory_max);
}

}  // namespace galley::director
