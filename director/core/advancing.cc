#include "director/core/advancing.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/container/btree_map.h"
#include "director/core/core.h"

namespace galley::director {
namespace {

// True: the package was attempted, and the failure is not shared with equal work, which is cooked
// for itself.
bool UsesUpAttempts(FailureCause cause) {
  switch (cause) {
    case FailureCause::kPackage:
    case FailureCause::kLimit:
    case FailureCause::kRefused:
    case FailureCause::kMachine:
    case FailureCause::kUnproven:
      return true;
    case FailureCause::kProject:
    case FailureCause::kVerdict:
    case FailureCause::kUnread:
      return false;
  }
  return false;
}

}  // namespace

// A platform has its durable result.
void Advancing::Settle(PackageId id, PlatformIndex platform) {
  packages_[id].was_told = true;
  TellDone(id, platform, core_.cooks.ListenersOn(id, platform));
  core_.waiting.WakeWaiters(id);
}

void Advancing::TellDone(PackageId id, PlatformIndex platform, CookMask cooks) {
  const Slot& slot = packages_[id].slots[platform];
  const auto outcome = static_cast<size_t>(ResultOutcomeOf(slot.source));
  core_.CountsOf(id).results[outcome] += static_cast<uint64_t>(std::popcount(cooks));
  Note(PackageDone{id, platform, slot.result->id, slot.source}, cooks);
}

PlatformMask Advancing::Wanted(PackageId id) const {
  PlatformMask mask = 0;
  const RareVector<Slot>& slots = packages_[id].slots;
  for (PlatformIndex p = 0; p < slots.size(); ++p)
    mask |= slots[p].phase != Phase::kUnwanted ? MaskOf(p) : 0;
  return mask;
}

PlatformMask Advancing::InPhase(PackageId id, Phase phase) const {
  PlatformMask mask = 0;
  const RareVector<Slot>& slots = packages_[id].slots;
  for (PlatformIndex p = 0; p < slots.size(); ++p) mask |= slots[p].phase == phase ? MaskOf(p) : 0;
  return mask;
}

bool Advancing::IsAllSettled(PackageId id) const {
  return (InPhase(id, Phase::kDone) | InPhase(id, Phase::kFailed)) == Wanted(id);
}

void Advancing::Advance(PackageId id) {
  PackageData& package = packages_[id];
  if (package.work == nullptr) return;
  const Work& work = *package.work;
  const auto any = [&](Phase phase) { return InPhase(id, phase) != 0; };
  if (IsAllSettled(id)) return Finish(id);
  if (!core_.cooks.IsWanted(id)) return TakeBack(id);
  if (work.attempt != 0) {
    return lifecycle().SetState(id, work.is_loaded ? State::kSave : State::kLoad,
                                work.is_loaded ? "loaded" : "handed over");
  }
  if (!work.has_begun || IsBlocked(work)) return lifecycle().SetState(id, State::kRequest, "waits");
  core_.following.FollowEqualWork(id);
  if (any(Phase::kToLookUp) || any(Phase::kLookingUp) || any(Phase::kWaiting)) {
    return lifecycle().SetState(id, State::kRequest, "to be looked up");
  }
  core_.following.LeadEqualWork(id);
  if (!any(Phase::kToCook) && any(Phase::kCommitting))
    return lifecycle().SetState(id, State::kSave, "being committed");
  if (!any(Phase::kToCook))
    return lifecycle().SetState(id, State::kRequest, "equal work is cooked");
  if (package.state == State::kSaveStalled) return;
  lifecycle().SetState(id, State::kLoad, "not up to date");
  core_.offers.ParkBeyondFleet(id);
}

void Advancing::Finish(PackageId id) {
  core_.waiting.WakeWaiters(id);
  core_.attempts.EndAttempts(id);
  graph().changes.StopWaitingForScan(id);
  lifecycle().SetState(id, State::kIdle, InPhase(id, Phase::kFailed) != 0 ? "failed" : "cooked");
  Conclude(id);
}

// No cook that goes on wants the package: nothing new begins. What is being committed is waited
// for.
void Advancing::TakeBack(PackageId id) {
  core_.attempts.EndAttempts(id);
  if (InPhase(id, Phase::kCommitting) == 0) return graph().claims.GiveUp(id);
  lifecycle().StopLeading(id);
  lifecycle().SetState(id, State::kSave, "being committed");
}

// The package's outcome follows from how its platforms ended.
void Advancing::Conclude(PackageId id) {
  const bool has_failed = InPhase(id, Phase::kFailed) != 0;
  lifecycle().SetOutcome(id, has_failed ? Outcome::kFailed : Outcome::kCooked);
}

// A verdict fails one platform at a time.
ResultId Advancing::VerdictOf(PackageId id, PlatformMask platforms, FailureCause cause) const {
  if (cause != FailureCause::kVerdict) return ResultId();
  const ResultViewPtr& result =
      packages_[id].slots[static_cast<size_t>(std::countr_zero(platforms))].result;
  return result != nullptr && result->is_verdict ? result->id : ResultId();
}

void Advancing::NoteFailed(PackageId id, PlatformMask platforms, Stage stage,
                           const std::string& error, CookMask cooks, const std::string& log,
                           FailureCause cause, AttemptId attempt_id) {
  PackageData& package = packages_[id];
  package.was_told = true;
  const Blame::Faults faults = graph().blame.Of(id);
  PackageFailed failed{.package = id,
                       .platform = std::nullopt,
                       .stage = stage,
                       .error = error,
                       .log = log,
                       .cause = cause,
                       .attempt = attempt_id,
                       .worker = WorkerId(),
                       .attempts = package.work == nullptr ? 0 : package.work->attempts,
                       .own_faults = faults.own,
                       .infrastructure_faults = faults.infrastructure,
                       .verdict = VerdictOf(id, platforms, cause)};
  if (attempt_id != 0) failed.worker = core_.attempts.at(attempt_id).worker;
  // Cooks that want the same platforms, as nearly all do, are told together.
  absl::btree_map<std::pair<PlatformMask, PlatformMask>, CookMask> groups;
  core_.cooks.ForEachOf(cooks, [&](const Cook& cook) {
    const PlatformMask wanted = cook.request().platforms & Wanted(id);
    groups[{wanted, platforms & wanted & ~cook.judging.JudgedOf(id)}] |= cook.bit();
  });
  for (const auto& [masks, group] : groups) NoteFailedTo(group, masks.first, masks.second, failed);
}

void Advancing::NoteFailedTo(CookMask cooks, PlatformMask wanted, PlatformMask platforms,
                             PackageFailed failed) {
  if (platforms == 0) return;
  core_.CountsOf(failed.package).results[static_cast<size_t>(ResultOutcome::kFailed)] +=
      static_cast<uint64_t>(std::popcount(platforms) * std::popcount(cooks));
  if (platforms == wanted) return Note(std::move(failed), cooks);
  for (PlatformIndex p = 0; p < core_.platform_count; ++p) {
    if ((platforms & MaskOf(p)) == 0) continue;
    failed.platform = p;
    Note(failed, cooks);
  }
}

// Fails those of `platforms` that have not failed yet. The caller calls Advance.
void Advancing::FailPlatforms(PackageId id, PlatformMask platforms, Stage stage,
                              const std::string& error, const std::string& log, FailureCause cause,
                              AttemptId attempt_id) {
  PackageData& package = packages_[id];
  platforms &= Wanted(id) & ~InPhase(id, Phase::kFailed);
  if (platforms == 0) return;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((platforms & MaskOf(p)) == 0) continue;
    if (UsesUpAttempts(cause)) lifecycle().ExhaustLead(id, p);
    lifecycle().SetPhase(id, p, Phase::kFailed);
  }
  NoteFailed(id, platforms, stage, error, package.cooks, log, cause, attempt_id);
  if (package.work != nullptr) {
    std::erase_if(package.work->waits,
                  [&](const Wait& wait) { return (platforms & MaskOf(wait.platform)) != 0; });
    for (const AttemptId current : core_.attempts.At(id)) {
      core_.attempts.at(current).remaining &= ~platforms;
      core_.attempts.at(current).is_partial = true;
    }
    core_.waiting.WakeWaiters(id);
  }
  core_.cooks.ForEachOf(core_.cooks.ClaimersOn(id, platforms) & core_.cooks.fail_fast(),
                        [](Cook& cook) { cook.Stop(Cook::Ending::kFailFast); });
}

void Advancing::FailPackage(PackageId id, Stage stage, const std::string& error) {
  FailPlatforms(id, ~InPhase(id, Phase::kDone), stage, error, "");
  Advance(id);
}

}  // namespace galley::director
