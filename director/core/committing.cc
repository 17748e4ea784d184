// Commits, and how a package gets on: Advance decides its state from its platforms.
#include <algorithm>

#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

// It was attempted, and how that ended says nothing of equal work, but that it may end so, too.
bool UsesUpAttempts(FailureCause cause) {
  switch (cause) {
    case FailureCause::kPackage:
    case FailureCause::kLimit:
    case FailureCause::kRefused:
    case FailureCause::kMachine:
      return true;
    case FailureCause::kProject:
    case FailureCause::kVerdict:
      return false;
  }
  return false;
}

}  // namespace

void CookCore::Impl::Commit(PackageId package, std::optional<PlatformIndex> platform,
                            ResultId result, WorkerId worker, ReportId report) {
  CommitInFlight& commit = commits[{package, result, platform.value_or(0)}];
  commit.platform = platform;
  const std::unique_ptr<Work>& work = packages[package].work;
  if (commit.reports.empty()) {
    Persist::Item item{package, platform.value_or(0), result, true, Waited()};
    if (work != nullptr) {
      item.waited = {.request = work->ready - work->asked,
                     .queue = std::max(absl::ZeroDuration(), work->handed - work->ready),
                     .in_hand = work->attempts > 0 ? now - work->handed : absl::ZeroDuration(),
                     .attempts = work->attempts};
    }
    turn.persist.push_back(std::move(item));
  }
  turn.is_persist_urgent |= IsAwaited(package);
  commit.reports.emplace_back(worker, report);
}

void CookCore::Impl::OnPersisted(const Persisted& event) {
  if (!event.error.empty() && request.has_value())
    End("results could not be made durable: " + event.error);
  if (!event.error.empty()) return Uncommit(event.items);
  for (const Persisted::Item& item : event.items) {
    const auto commit = commits.find({item.package, item.result, item.platform});
    if (commit == commits.end()) continue;  // a hit: nobody waits for it
    for (const auto& [worker, report] : commit->second.reports) Acknowledge(worker, report);
    const std::optional<PlatformIndex> platform = commit->second.platform;
    commits.erase(commit);
    const PackageData& package = packages[item.package];
    if (package.work == nullptr || !platform.has_value() || *platform >= package.slots.size())
      continue;
    if (package.slots[*platform].phase != Phase::kCommitting ||
        package.slots[*platform].result->id != item.result)
      continue;
    if (!item.refused.empty()) {
      OnRefused(item.package, *platform, item.refused);
      continue;
    }
    if (item.instead != nullptr) StandInstead(item.package, *platform, item.instead);
    const Slot& slot = package.slots[*platform];
    if (slot.phase != Phase::kCommitting) continue;
    if (slot.result->is_verdict) {
      const ResultViewPtr verdict = slot.result;
      FailPlatforms(item.package, MaskOf(*platform), Stage::kSave, verdict->error, verdict->log,
                    FailureCause::kVerdict);
    } else {
      lifecycle.SetPhase(item.package, *platform, Phase::kDone, slot.source);
      Settle(item.package, *platform);
    }
    Advance(item.package);
  }
}

// Its worker is wrong about where the bytes are: as if it had not been cooked. An earlier director
// may have kept what it tells again, so it is looked up.
void CookCore::Impl::OnRefused(PackageId id, PlatformIndex platform, const std::string& why) {
  lifecycle.SetPhase(id, platform, request->force ? Phase::kToCook : Phase::kToLookUp);
  packages[id].slots[platform].result.reset();
  BlameInfrastructure(id, MaskOf(platform), why, "");
  Advance(id);
}

// An earlier cook of the very same inputs came out otherwise: what is stored is what all who share
// the store see.
void CookCore::Impl::StandInstead(PackageId id, PlatformIndex platform,
                                  const ResultViewPtr& instead) {
  packages[id].slots[platform].result = instead;
  if (!instead->is_verdict) SetExplored(id, platform, instead, true);
}

// Their workers keep them: they are taken again when they are sent again.
void CookCore::Impl::Uncommit(const std::vector<Persisted::Item>& items) {
  for (const Persisted::Item& item : items) {
    const auto commit = commits.find({item.package, item.result, item.platform});
    if (commit == commits.end()) continue;
    for (const auto& [id, report] : commit->second.reports) {
      Worker& worker = *workers.Find(id);
      if (worker.unacknowledged.erase(report) > 0) worker.uncommitted.insert(report);
    }
    commits.erase(commit);
  }
}

// A platform has its durable result.
void CookCore::Impl::Settle(PackageId id, PlatformIndex platform) {
  const Slot& slot = packages[id].slots[platform];
  Note(PackageDone{id, platform, slot.result->id, slot.source});
  WakeWaiters(id);
}

PlatformMask CookCore::Impl::Wanted(PackageId id) const {
  PlatformMask mask = 0;
  const RareVector<Slot>& slots = packages[id].slots;
  for (PlatformIndex p = 0; p < slots.size(); ++p)
    mask |= slots[p].phase != Phase::kUnwanted ? MaskOf(p) : 0;
  return mask;
}

PlatformMask CookCore::Impl::InPhase(PackageId id, Phase phase) const {
  PlatformMask mask = 0;
  const RareVector<Slot>& slots = packages[id].slots;
  for (PlatformIndex p = 0; p < slots.size(); ++p) mask |= slots[p].phase == phase ? MaskOf(p) : 0;
  return mask;
}

void CookCore::Impl::Advance(PackageId id) {
  PackageData& package = packages[id];
  if (package.work == nullptr) return;
  const Work& work = *package.work;
  const auto any = [&](Phase phase) { return InPhase(id, phase) != 0; };
  if ((InPhase(id, Phase::kDone) | InPhase(id, Phase::kFailed)) == Wanted(id)) return Finish(id);
  if (work.attempt != 0) {
    return lifecycle.SetState(id, work.is_loaded ? State::kSave : State::kLoad,
                              work.is_loaded ? "loaded" : "handed over");
  }
  if (!work.has_begun || IsBlocked(work)) return lifecycle.SetState(id, State::kRequest, "waits");
  FollowEqualWork(id);
  if (any(Phase::kToLookUp) || any(Phase::kLookingUp) || any(Phase::kWaiting)) {
    return lifecycle.SetState(id, State::kRequest, "to be looked up");
  }
  LeadEqualWork(id);
  if (!any(Phase::kToCook) && any(Phase::kCommitting))
    return lifecycle.SetState(id, State::kSave, "being committed");
  if (!any(Phase::kToCook)) return lifecycle.SetState(id, State::kRequest, "equal work is cooked");
  if (package.state != State::kSaveStalled) lifecycle.SetState(id, State::kLoad, "not up to date");
}

void CookCore::Impl::Finish(PackageId id) {
  WakeWaiters(id);
  EndAttempts(id, Tell::kCancel);
  StopWaitingForScan(id);
  lifecycle.SetState(id, State::kIdle, InPhase(id, Phase::kFailed) != 0 ? "failed" : "cooked");
  Conclude(id);
}

// How it ended, from how its platforms did.
void CookCore::Impl::Conclude(PackageId id) {
  const PackageData& package = packages[id];
  const bool has_failed = InPhase(id, Phase::kFailed) != 0;
  lifecycle.SetOutcome(id, has_failed ? Outcome::kFailed : Outcome::kCooked);
  const bool is_up_to_date =
      !has_failed && std::all_of(package.slots.begin(), package.slots.end(), [](const Slot& slot) {
        return slot.phase == Phase::kUnwanted || slot.source == ResultSource::kUpToDate;
      });
  lifecycle.SetUpToDate(id, is_up_to_date);
}

// Those of `platforms` that have not failed yet. The caller calls Advance.
void CookCore::Impl::FailPlatforms(PackageId id, PlatformMask platforms, Stage stage,
                                   const std::string& error, const std::string& log,
                                   FailureCause cause, AttemptId attempt_id) {
  PackageData& package = packages[id];
  platforms &= Wanted(id) & ~InPhase(id, Phase::kFailed);
  if (platforms == 0) return;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((platforms & MaskOf(p)) == 0) continue;
    if (UsesUpAttempts(cause)) lifecycle.ExhaustLead(id, p);
    lifecycle.SetPhase(id, p, Phase::kFailed);
  }
  const Blame::Faults faults = blame.Of(id);
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
                       .infrastructure_faults = faults.infrastructure};
  if (attempt_id != 0) failed.worker = attempts.at(attempt_id).worker;
  if (platforms == Wanted(id)) {
    Note(failed);
  } else {
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if ((platforms & MaskOf(p)) == 0) continue;
      failed.platform = p;
      Note(failed);
    }
  }
  if (package.work != nullptr) {
    std::erase_if(package.work->waits,
                  [&](const Wait& wait) { return (platforms & MaskOf(wait.platform)) != 0; });
    for (const AttemptId current : AttemptsAt(id)) {
      attempts.at(current).remaining &= ~platforms;
      attempts.at(current).is_partial = true;
    }
    WakeWaiters(id);
  }
  if (FailsFast()) Stop(Ending::kFailFast);
}

void CookCore::Impl::FailPackage(PackageId id, Stage stage, const std::string& error) {
  FailPlatforms(id, ~InPhase(id, Phase::kDone), stage, error, "");
  Advance(id);
}

}  // namespace galley::director
