#include "director/shell/commits.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"

namespace galley::director {

Commits::Commits(const Deps& deps)
    : deps_(deps),
      groups_({.store = deps_.store,
               .journal = deps_.journal,
               .results = deps_.results,
               .trace = deps_.trace,
               .clock = deps_.clock,
               .tasks = deps_.tasks,
               .is_sent_back = deps_.send_back != nullptr,
               .holds = deps_.holds,
               .committed = deps_.committed,
               .has_ended = [this] { deps_.inbox.PostTask([this] { TakeEnded(); }); },
               .keep_records = deps_.keep_records}) {}

void Commits::BeginDue(bool has_jobs) {
  groups_.WriteNotesIfDue();
  const bool are_failures_due =
      !groups_.is_running() && ask_failures_.IsDue(deps_.clock.Monotonic());
  if (are_failures_due || groups_.IsDue(has_jobs)) BeginAll();
}

void Commits::BeginAll() { groups_.Begin(TakeFailures()); }

absl::Time Commits::NextBegin(bool has_jobs) const {
  return groups_.is_running() || !groups_.has_pending() ? absl::InfiniteFuture()
                                                        : groups_.Next(has_jobs);
}

std::vector<FailureUpdate> Commits::TakeFailures() {
  std::vector<FailureNotes::Where> committed;
  for (const StoredResultPtr& stored : groups_.pending()) {
    if (stored != nullptr) committed.emplace_back(stored->package, stored->platform_name);
  }
  std::vector<FailureUpdate> updates = ask_failures_.Take(committed);
  deps_.cooks.ForEach([&](ActiveCook& cook) {
    for (FailureUpdate& one : cook.failures.Take(committed)) updates.push_back(std::move(one));
  });
  return updates;
}

// A commit that ended after the core was done with the cook is counted as well; a failure of such a
// commit is a failure of the cook.
bool Commits::TakeEnded() {
  std::optional<GroupCommits::Ended> ended = groups_.TakeEnded();
  if (!ended.has_value()) return false;
  CommitOutcome& outcome = ended->outcome;
  CountBytes(outcome);
  for (const CommitOutcome::Alarm& alarm : outcome.alarms) {
    deps_.cooks.ForEach([&](ActiveCook& cook) {
      cook.WarnOf(alarm.package, alarm.platform, record::WarningKind::kResultDispute, alarm.text);
    });
  }
  if (deps_.send_back) SendBack(*ended);
  const bool has_failed = !outcome.event.error.empty();
  for (const Persisted::Item& item : outcome.event.items) {
    if (!item.refused.empty()) LogRefused(item);
    if (!has_failed && item.refused.empty())
      deps_.reports.TakeCommitted(deps_.results.Get(item.result)->result);
  }
  if (has_failed) TellFailedCommit(outcome.event.error);
  deps_.inbox.HandleNow(std::move(outcome.event));
  // The failure has ended all cooks that ran. The next cook may succeed: a disk that was full may
  // have room again.
  if (has_failed) deps_.tasks.Post([this] { groups_.Forgive(); });
  return true;
}

void Commits::CountBytes(const CommitOutcome& outcome) {
  for (const auto& [number, bytes] : outcome.bytes) {
    bytes_stored_ += bytes.stored;
    bytes_deduplicated_ += bytes.deduplicated;
    if (ActiveCook* const cook = deps_.cooks.Find(number); cook != nullptr) {
      cook->outcome.bytes_stored += bytes.stored;
      cook->outcome.bytes_deduplicated += bytes.deduplicated;
    }
  }
}

// After a root was published, only late results and their replacements are left to commit: a
// failure is worth a warning.
void Commits::TellFailedCommit(const std::string& error) {
  const std::string text = "results could not be made durable: " + error;
  deps_.cooks.ForEach([&](ActiveCook& cook) {
    if (!cook.has_ended) return;
    if (!cook.outcome.roots.empty()) {
      cook.Warn(record::WarningKind::kStore, text);
    } else if (cook.outcome.ended.infrastructure_error.empty()) {
      cook.outcome.ended.infrastructure_error = text;
    }
  });
}

void Commits::LogRefused(const Persisted::Item& item) const {
  const StoredResultPtr stored = deps_.results.Get(item.result);
  if (stored == nullptr) return;
  LogWarning("worker={} attempt={} package={} platform={} its result is refused: {}{}",
             stored->last_cook.worker, stored->last_cook.attempt, stored->package,
             stored->platform_name, item.refused,
             item.is_loss ? " (the store has lost something since)" : "");
}

// Sends results that were cooked here and stand to the upstream cache.
void Commits::SendBack(const GroupCommits::Ended& committed) {
  const Persisted& event = committed.outcome.event;
  if (!event.error.empty()) return;
  const absl::flat_hash_set<ResultId> cooked(committed.cooked.begin(), committed.cooked.end());
  for (const Persisted::Item& item : event.items) {
    if (!item.refused.empty() || !cooked.contains(item.result)) continue;
    const StoredResultPtr stored =
        deps_.results.Get(item.instead == nullptr ? item.result : item.instead->id);
    if (stored != nullptr && IsSentBack(*stored, item.instead != nullptr)) deps_.send_back(stored);
  }
}

}  // namespace galley::director
