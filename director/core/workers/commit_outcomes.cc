#include "director/core/workers/commit_outcomes.h"

namespace galley::director {

void CommitOutcomes::OnPersisted(const Persisted& event) {
  if (!event.error.empty()) claimants_.EndAll("results could not be made durable: " + event.error);
  if (!event.error.empty()) return Uncommit(event.items);
  for (const Persisted::Item& item : event.items) {
    const std::optional<PendingCommits::InFlight> commit = deps_.commits.Take(item);
    if (!commit.has_value()) continue;  // a hit: no report waits for its commit
    const std::vector<std::pair<WorkerId, ReportId>>& reports = commit->reports;
    for (const auto& [worker, report] : reports) deps_.acknowledgements.Acknowledge(worker, report);
    const std::optional<PlatformIndex> platform = commit->platform;
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
      deps_.package_progress.FailPlatforms(item.package, MaskOf(*platform), Stage::kSave,
                                           verdict->error, verdict->log, FailureCause::kVerdict);
    } else {
      graph_.lifecycle().SetPhase(item.package, *platform, Phase::kDone,
                                  item.was_stored ? ResultSource::kCached : slot.source);
      deps_.package_progress.Settle(item.package, *platform);
    }
    deps_.attempts.CancelOutrun(item.package, MaskOf(*platform));
    deps_.package_progress.Advance(item.package);
  }
}

// A worker that names bytes that are not there told a lie, unless the store lost the bytes. A
// worker of this machine has written the bytes itself, and its disk may have failed it.
void CommitOutcomes::JudgeWorker(WorkerId worker, const Persisted::Item& item) {
  if (item.refused.empty()) return deps_.breakers.AddSuccess(worker);
  if (item.is_loss) return;
  if (PoolOf(worker) == Pool::kLocal)
    return deps_.breakers.AddFault(worker, item.package, item.refused);
  deps_.breakers.AddViolation(worker, "a result of it is refused: " + item.refused);
}

// The worker is wrong about where the bytes of the result are: the platform is as if it had not
// been cooked. An earlier director may have stored a result that the worker reports again, so the
// platform is looked up.
void CommitOutcomes::OnRefused(PackageId id, PlatformIndex platform, const std::string& why) {
  graph_.lifecycle().SetPhase(id, platform, FirstPhaseOf(claimants_, id));
  packages_[id].slots[platform].result.reset();
  deps_.faults.BlameInfrastructure(id, MaskOf(platform), why, "");
  deps_.package_progress.Advance(id);
}

// An earlier cook of the very same inputs came out otherwise: the stored outcome counts, since all
// who share the store see it.
void CommitOutcomes::StandInstead(PackageId id, PlatformIndex platform,
                                  const ResultViewPtr& instead) {
  packages_[id].slots[platform].result = instead;
  if (!instead->is_verdict) deps_.discovered_references.SetExplored(id, platform, instead, true);
}

// The workers keep results whose commit failed: these are taken again when they are sent again.
void CommitOutcomes::Uncommit(const std::vector<Persisted::Item>& items) {
  for (const Persisted::Item& item : items) {
    const std::optional<PendingCommits::InFlight> commit = deps_.commits.Take(item);
    if (!commit.has_value()) continue;
    for (const auto& [id, report] : commit->reports) {
      Worker* worker = workers_.Find(id);
      if (worker != nullptr && worker->reports.unacknowledged.erase(report) > 0)
        worker->reports.uncommitted.insert(report);
    }
  }
}

}  // namespace galley::director
