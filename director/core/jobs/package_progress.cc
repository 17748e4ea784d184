#include "director/core/jobs/package_progress.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/container/btree_map.h"
#include "common/base/sabotage.h"

namespace galley::director {
namespace {

// True: the package was attempted, and its failure is not shared with equal work, which is cooked
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
void PackageProgress::Settle(PackageId id, PlatformIndex platform) {
  packages_[id].was_told = true;
  TellDone(id, platform, claimants_.ListenersOn(id, platform));
  waits_.WakeWaiters(id);
}

void PackageProgress::TellDone(PackageId id, PlatformIndex platform, CookMask cooks) {
  const Slot& slot = packages_[id].slots[platform];
  const auto outcome = static_cast<size_t>(ResultOutcomeOf(slot.source));
  counts_.CookerOf(packages_[id]).results[outcome] += static_cast<uint64_t>(std::popcount(cooks));
  if ((cooks & kAsksBit) != 0)
    notes_.asks_settled.push_back({.package = id, .platforms = MaskOf(platform)});
  effects_.Note(PackageDone{id, platform, slot.result->id, slot.source}, cooks);
}

void PackageProgress::Advance(PackageId id) {
  PackageData& package = packages_[id];
  if (package.work == nullptr) return;
  const Work& work = *package.work;
  const auto any = [&](Phase phase) { return InPhase(package, phase) != 0; };
  if (IsAllSettled(package)) return Finish(id);
  if (!claimants_.IsWanted(id)) return TakeBack(id);
  if (work.attempt != 0) {
    return graph_.lifecycle().SetState(id, work.is_loaded ? State::kSave : State::kLoad,
                                       work.is_loaded ? "loaded" : "handed over");
  }
  if (!work.has_begun || IsBlocked(work))
    return graph_.lifecycle().SetState(id, State::kRequest, "waits");
  equal_work_followers_.FollowEqualWork(id);
  if (any(Phase::kToLookUp) || any(Phase::kLookingUp) || any(Phase::kWaiting)) {
    return graph_.lifecycle().SetState(id, State::kRequest, "to be looked up");
  }
  equal_work_followers_.LeadEqualWork(id);
  if (!any(Phase::kToCook) && any(Phase::kCommitting))
    return graph_.lifecycle().SetState(id, State::kSave, "being committed");
  if (!any(Phase::kToCook))
    return graph_.lifecycle().SetState(id, State::kRequest, "equal work is cooked");
  if (package.state == State::kSaveStalled) return;
  graph_.lifecycle().SetState(id, State::kLoad, "not up to date");
  if (options_.fleet.max > 0) notes_.packages_ready.push_back({id});
}

void PackageProgress::Finish(PackageId id) {
  waits_.WakeWaiters(id);
  attempts_.EndAttempts(id);
  StopWaitingForScan(id);
  graph_.lifecycle().SetState(id, State::kIdle,
                              InPhase(packages_[id], Phase::kFailed) != 0 ? "failed" : "cooked");
  Conclude(id);
}

// No active cook wants the package: nothing new begins. Commits on their way are waited for.
void PackageProgress::TakeBack(PackageId id) {
  attempts_.EndAttempts(id);
  if (InPhase(packages_[id], Phase::kCommitting) == 0) return GiveUp(id);
  graph_.lifecycle().StopLeading(id);
  graph_.lifecycle().SetState(id, State::kSave, "being committed");
}

// Questions about the package are asked again when another cook wants it.
void PackageProgress::GiveUp(PackageId id) {
  PackageData& package = packages_[id];
  if (package.work != nullptr) {
    waits_.WakeWaiters(id);
    attempts_.EndAttempts(id);
    StopWaitingForScan(id);
    ++package.generation;
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      const Phase phase = package.slots[p].phase;
      if (phase == Phase::kLookingUp || phase == Phase::kWaiting || phase == Phase::kFollowing ||
          phase == Phase::kCommitting)
        graph_.lifecycle().SetPhase(id, p, Phase::kToLookUp);
    }
    graph_.lifecycle().SetState(id, State::kIdle, "no cook wants it any more");
  }
  if (package.outcome != Outcome::kNone) return;
  if (InPhase(package, Phase::kFailed) != 0) {
    graph_.lifecycle().SetOutcome(id, Outcome::kFailed);
  } else {
    graph_.lifecycle().SetSkipped(id, true);
  }
}

void PackageProgress::WaitForScan(PackageId id, const std::string& path, uint32_t attempt_epoch) {
  PendingChanges& pending = graph_.pending_changes();
  if (pending.IsKnown(path, attempt_epoch)) return;
  packages_[id].work->stale_path = path;
  if (pending.WaitForScan(id, path)) effects_.rescans.push_back(path);
}

// The journal forgave the package when its change was recorded; but a fault that was told before
// the core heard of the change may have been recorded after the change.
void PackageProgress::NoteForgiven(PackageId package, uint32_t own_faults) {
  if (graph_.blame().Of(package).own > own_faults)
    effects_.Note(PackageBlamed{package, own_faults, "", "", ""},
                  packages_[package].cooks & claimants_.masks().running);
}

void PackageProgress::StopWaitingForScan(PackageId id) {
  graph_.pending_changes().StopWaitingForScan(id, packages_[id].work->stale_path);
}

// The package's outcome follows from how its platforms ended.
void PackageProgress::Conclude(PackageId id) {
  const bool has_failed = InPhase(packages_[id], Phase::kFailed) != 0;
  graph_.lifecycle().SetOutcome(id, has_failed ? Outcome::kFailed : Outcome::kCooked);
}

// A verdict fails one platform at a time.
ResultId PackageProgress::VerdictOf(PackageId id, PlatformMask platforms,
                                    FailureCause cause) const {
  if (cause != FailureCause::kVerdict) return ResultId();
  const ResultViewPtr& result =
      packages_[id].slots[static_cast<size_t>(std::countr_zero(platforms))].result;
  return result != nullptr && result->is_verdict ? result->id : ResultId();
}

void PackageProgress::NoteFailed(PackageId id, PlatformMask platforms, Stage stage,
                                 const std::string& error, CookMask cooks, const std::string& log,
                                 FailureCause cause, AttemptId attempt_id) {
  PackageData& package = packages_[id];
  package.was_told = true;
  const Blame::Faults faults = graph_.blame().Of(id);
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
  if (attempt_id != 0) failed.worker = attempts_.at(attempt_id).worker;
  // Cooks that want the same platforms, as nearly all do, are told together.
  absl::btree_map<std::pair<PlatformMask, PlatformMask>, CookMask> groups;
  claimants_.ForEachOf(cooks, [&](const Claimant& cook) {
    const PlatformMask wanted = cook.request.platforms & WantedPlatforms(package);
    groups[{wanted, platforms & wanted & ~cook.JudgedOf(id)}] |= cook.bit();
  });
  kept_failures_.Keep(package.name, failed, step_.now);
  if ((cooks & kAsksBit) != 0 && (platforms & package.asked) != 0)
    notes_.asks_settled.push_back({id, platforms & package.asked, failed});
  for (const auto& [masks, group] : groups) NoteFailedTo(group, masks.first, masks.second, failed);
}

void PackageProgress::NoteFailedTo(CookMask cooks, PlatformMask wanted, PlatformMask platforms,
                                   PackageFailed failed) {
  if (platforms == 0) return;
  counts_.CookerOf(packages_[failed.package])
      .results[static_cast<size_t>(ResultOutcome::kFailed)] +=
      static_cast<uint64_t>(std::popcount(platforms) * std::popcount(cooks));
  if (platforms == wanted) return effects_.Note(std::move(failed), cooks);
  for (PlatformIndex p = 0; p < step_.platform_count; ++p) {
    if ((platforms & MaskOf(p)) == 0) continue;
    failed.platform = p;
    effects_.Note(failed, cooks);
  }
}

// Fails the platforms of `platforms` that have not failed yet. The caller calls Advance.
void PackageProgress::FailPlatforms(PackageId id, PlatformMask platforms, Stage stage,
                                    const std::string& error, const std::string& log,
                                    FailureCause cause, AttemptId attempt_id) {
  PackageData& package = packages_[id];
  platforms &= WantedPlatforms(package) & ~InPhase(package, Phase::kFailed);
  if (platforms == 0) return;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((platforms & MaskOf(p)) == 0) continue;
    if (UsesUpAttempts(cause)) graph_.lifecycle().ExhaustLead(id, p);
    graph_.lifecycle().SetPhase(id, p, Phase::kFailed);
  }
  NoteFailed(id, platforms, stage, error, claimants_.UnsettledOf(id), log, cause, attempt_id);
  if (package.work != nullptr) {
    std::erase_if(package.work->waits,
                  [&](const Wait& wait) { return (platforms & MaskOf(wait.platform)) != 0; });
    for (const AttemptId current : attempts_.At(id)) {
      attempts_.at(current).remaining &= ~platforms;
      attempts_.at(current).is_partial = true;
    }
    waits_.WakeWaiters(id);
  }
  claimants_.ForEachOf(claimants_.ClaimersOn(id, platforms) & claimants_.masks().fail_fast,
                       [this](Claimant& cook) { StopCook(cook, Claimant::Ending::kFailFast); });
}

void PackageProgress::StopCook(Claimant& cook, Claimant::Ending how) {
  if (claimants_.Stop(cook, how)) resumed_attempts_.EndUnwanted();
}

void PackageProgress::FailPackage(PackageId id, Stage stage, const std::string& error) {
  FailPlatforms(id, ~InPhase(packages_[id], Phase::kDone), stage, error, "");
  Advance(id);
}

// Goes on with followers whose lead is over. Returns the units of work.
size_t PackageProgress::GoOnWithFollowers(size_t units_max) {
  size_t units = 0;
  for (; graph_.lifecycle().equal_work().has_freed() && units < units_max; ++units) {
    const EqualWork::Freed freed = graph_.lifecycle().equal_work().TakeFreed();
    const bool has_nothing =
        freed.why == EqualWork::End::kNothing || freed.why == EqualWork::End::kExhausted;
    if (IsSabotaged(Sabotage::kForgetFollowers) && has_nothing) continue;
    const auto& [id, platform, work] = freed.follower;
    const PackageData& package = packages_[id];
    if (package.work == nullptr || platform >= package.slots.size()) continue;
    const Slot& slot = package.slots[platform];
    if (slot.phase != Phase::kFollowing || slot.work != work) continue;
    packages_[id].slots[platform].has_followed = freed.why != EqualWork::End::kNothing;
    graph_.lifecycle().SetPhase(id, platform, Phase::kToLookUp);
    Advance(id);
  }
  return units;
}

}  // namespace galley::director
