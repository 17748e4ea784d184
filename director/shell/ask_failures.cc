#include "director/shell/ask_failures.h"

#include <utility>

namespace galley::director {
namespace {

// The text of a kept limit is longer when the limit is told for the first time, and no attempt is
// named when a kept failure is told again.
bool AreOfOneAttempt(const FailureRecord& a, const FailureRecord& b) {
  return a.cause == b.cause && a.log == b.log &&
         (a.error.starts_with(b.error) || b.error.starts_with(a.error));
}

}  // namespace

void AskFailures::AddNews(const Where& where, std::optional<FailureRecord> failure,
                          absl::Time now) {
  if (news_.empty()) news_since_ = now;
  news_[where] = std::move(failure);
}

void AskFailures::Failed(const Where& where, FailureRecord record, absl::Time now) {
  const auto told = told_.find(where);
  if (told != told_.end() && AreOfOneAttempt(told->second, record)) return;
  if (told_.size() >= kToldMax) told_.clear();
  told_[where] = record;
  AddNews(where, std::move(record), now);
}

void AskFailures::Done(const Where& where, bool is_known, absl::Time now) {
  if (told_.erase(where) > 0 || is_known) AddNews(where, std::nullopt, now);
}

// A committed result takes the failure of its platform out of the journal.
std::vector<FailureUpdate> AskFailures::Take(const std::vector<Where>& committed) {
  for (const Where& where : committed) {
    if (!news_.contains(where)) told_.erase(where);
  }
  std::vector<FailureUpdate> updates;
  for (auto& [where, failure] : std::exchange(news_, {}))
    updates.push_back({where.first, where.second, std::move(failure)});
  return updates;
}

}  // namespace galley::director
