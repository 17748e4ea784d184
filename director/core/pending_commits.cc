#include "director/core/pending_commits.h"

#include <algorithm>

#include "director/core/core.h"

namespace galley::director {
void PendingCommits::Commit(PackageId package, std::optional<PlatformIndex> platform,
                            ResultId result, WorkerId worker, ReportId report, bool may_be_stored) {
  InFlight& commit = commits_[{package, result, platform.value_or(0)}];
  commit.platform = platform;
  const std::unique_ptr<Work>& work = packages_[package].work;
  if (commit.reports.empty()) {
    Persist::Item item{.package = package,
                       .platform = platform.value_or(0),
                       .result = result,
                       .was_cooked = true,
                       .may_be_stored = may_be_stored};
    if (work != nullptr) {
      item.waited = {
          .request = work->ready - work->asked,
          .queue = std::max(absl::ZeroDuration(), work->handed - work->ready),
          .in_hand = work->attempts > 0 ? core_.now - work->handed : absl::ZeroDuration(),
          .attempts = work->attempts};
    }
    Submit(std::move(item));
  }
  turn_.is_persist_urgent |= core_.following.IsAwaited(package);
  commit.reports.emplace_back(worker, report);
}

void PendingCommits::Submit(Persist::Item item) {
  if (const Cook* cook = core_.cooks.FirstOf(item.package)) {
    item.cook = cook->request().request;
    item.is_forced = cook->request().force;
    item.may_be_stored &= !item.is_forced;  // who cooks whatever is known asked for this very cook
  }
  turn_.persist.push_back(std::move(item));
}

void PendingCommits::OnPersisted(const Persisted& event) {
  if (!event.error.empty()) core_.cooks.EndAll("results could not be made durable: " + event.error);
  if (!event.error.empty()) return Uncommit(event.items);
  for (const Persisted::Item& item : event.items) {
    const auto commit = commits_.find({item.package, item.result, item.platform});
    if (commit == commits_.end()) continue;  // a hit: nobody waits for it
    const std::vector<std::pair<WorkerId, ReportId>> reports = std::move(commit->second.reports);
    for (const auto& [worker, report] : reports) core_.worker_lives.Acknowledge(worker, report);
    const std::optional<PlatformIndex> platform = commit->second.platform;
    commits_.erase(commit);
    for (const auto& [worker, report] : reports) JudgeWorker(worker, item);
    const PackageData& package = packages_[item.package];
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
      core_.advancing.FailPlatforms(item.package, MaskOf(*platform), Stage::kSave, verdict->error,
                                    verdict->log, FailureCause::kVerdict);
    } else {
      lifecycle().SetPhase(item.package, *platform, Phase::kDone,
                           item.was_stored ? ResultSource::kCached : slot.source);
      core_.advancing.Settle(item.package, *platform);
    }
    core_.attempts.CancelOutrun(item.package, MaskOf(*platform));
    core_.advancing.Advance(item.package);
  }
}

// Who names bytes that are not there told a lie, unless the store lost them. A worker of this
// machine has written them itself, and its disk may have failed it.
void PendingCommits::JudgeWorker(WorkerId worker, const Persisted::Item& item) {
  if (item.refused.empty()) return core_.breakers.AddSuccess(worker);
  if (item.is_loss) return;
  if (PoolOf(worker) == Pool::kLocal)
    return core_.breakers.AddFault(worker, item.package, item.refused);
  core_.breakers.AddViolation(worker, "a result of it is refused: " + item.refused);
}

// The worker is wrong about where the bytes of the result are: the platform is as if it had not
// been cooked. An earlier director may have stored a result that the worker reports again, so the
// platform is looked up.
void PendingCommits::OnRefused(PackageId id, PlatformIndex platform, const std::string& why) {
  lifecycle().SetPhase(id, platform, core_.cooks.FirstPhaseOf(id));
  packages_[id].slots[platform].result.reset();
  graph().faults.BlameInfrastructure(id, MaskOf(platform), why, "");
  core_.advancing.Advance(id);
}

// An earlier cook of the very same inputs came out otherwise: the stored outcome counts, since all
// who share the store see it.
void PendingCommits::StandInstead(PackageId id, PlatformIndex platform,
                                  const ResultViewPtr& instead) {
  packages_[id].slots[platform].result = instead;
  if (!instead->is_verdict) core_.exploring.SetExplored(id, platform, instead, true);
}

// The workers keep results whose commit failed: these are taken again when they are sent again.
void PendingCommits::Uncommit(const std::vector<Persisted::Item>& items) {
  for (const Persisted::Item& item : items) {
    const auto commit = commits_.find({item.package, item.result, item.platform});
    if (commit == commits_.end()) continue;
    for (const auto& [id, report] : commit->second.reports) {
      Worker* worker = workers_.Find(id);
      if (worker != nullptr && worker->unacknowledged.erase(report) > 0)
        worker->uncommitted.insert(report);
    }
    commits_.erase(commit);
  }
}

bool PendingCommits::HasAnyOf(CookMask cooks) const {
  return std::any_of(commits_.begin(), commits_.end(), [&](const auto& commit) {
    return (packages_[std::get<0>(commit.first)].cooks & cooks) != 0;
  });
}

bool PendingCommits::Has(PackageId id, PlatformIndex platform) const {
  const ResultId result = packages_[id].slots[platform].result->id;
  for (auto at = commits_.lower_bound({id, result, 0});
       at != commits_.end() && std::get<0>(at->first) == id && std::get<1>(at->first) == result;
       ++at) {
    if (at->second.platform == platform) return true;
  }
  return false;
}

void PendingCommits::ForgetReportsOf(WorkerId worker) {
  for (auto& entry : commits_) {
    std::erase_if(entry.second.reports, [&](const auto& report) { return report.first == worker; });
  }
}

void PendingCommits::Remap(const PlatformMap& map) {
  for (auto& [key, commit] : commits_) {
    if (commit.platform.has_value()) commit.platform = map.Index(*commit.platform);
  }
}

}  // namespace galley::director
