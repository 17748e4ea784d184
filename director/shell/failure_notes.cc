#include "director/shell/failure_notes.h"

namespace galley::director {

FailureRecord FailureRecordOf(const PackageFailed& failed, uint64_t cook, absl::Time now,
                              std::string worker) {
  return {.cook = static_cast<uint32_t>(cook),
          .time = now,
          .stage = std::string(StageName(failed.stage)),
          .error = failed.error,
          .log = failed.log,
          .cause = std::string(FailureCauseName(failed.cause)),
          .worker = std::move(worker),
          .attempt = failed.attempt,
          .attempts = failed.attempts,
          .own_faults = failed.own_faults,
          .infrastructure_faults = failed.infrastructure_faults};
}

void FailureNotes::Failed(const Where& where, FailureRecord record) {
  news_[where] = record;
  standing_[where] = std::move(record);
}

void FailureNotes::Done(const Where& where, bool is_known) {
  if (standing_.erase(where) > 0 || is_known) news_[where] = std::nullopt;
}

void FailureNotes::Left(const std::string& package) {
  auto at = standing_.lower_bound({package, ""});
  while (at != standing_.end() && at->first.first == package) {
    news_[at->first] = std::nullopt;
    at = standing_.erase(at);
  }
}

std::vector<FailureUpdate> FailureNotes::Take(const std::vector<Where>& committed) {
  for (const Where& where : committed) {
    if (const auto found = standing_.find(where); found != standing_.end())
      news_.emplace(where, found->second);
  }
  std::vector<FailureUpdate> updates;
  for (auto& [where, failure] : news_)
    updates.push_back({where.first, where.second, std::move(failure)});
  news_.clear();
  return updates;
}

std::vector<std::string> FailureNotes::FailedFor(const std::string& platform) const {
  std::vector<std::string> packages;
  for (const auto& [where, failure] : standing_) {
    if (where.second == platform) packages.push_back(where.first);
  }
  return packages;
}

}  // namespace galley::director
