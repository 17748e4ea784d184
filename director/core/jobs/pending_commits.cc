#include "director/core/jobs/pending_commits.h"

#include <algorithm>

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
          .in_hand = work->attempts > 0 ? step_.now - work->handed : absl::ZeroDuration(),
          .attempts = work->attempts};
    }
    Submit(std::move(item));
  }
  effects_.is_persist_urgent |= equal_work_followers_.IsAwaited(package);
  commit.reports.emplace_back(worker, report);
}

void PendingCommits::Submit(Persist::Item item) {
  if (const Claimant* cook = claimants_.FirstOf(item.package)) {
    item.cook = cook->request.request;
    item.is_forced = cook->request.force;
    item.may_be_stored &= !item.is_forced;  // a forced cook wants a new cook, whatever is stored
  }
  effects_.persist.push_back(std::move(item));
}

std::optional<PendingCommits::InFlight> PendingCommits::Take(const Persisted::Item& item) {
  const auto commit = commits_.find({item.package, item.result, item.platform});
  if (commit == commits_.end()) return std::nullopt;
  std::optional<InFlight> taken(std::move(commit->second));
  commits_.erase(commit);
  return taken;
}

bool PendingCommits::HasAnyOf(CookMask cooks) const {
  return std::ranges::any_of(commits_, [&](const auto& commit) {
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
