#include "director/shell/group_commits.h"

#include <utility>

#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "fmt/format.h"

namespace galley::director {

void GroupCommits::Add(const Persist& effect) {
  unjournaled_.Add(effect);
  // The event that brought the results still has their views.
  for (const Persist::Item& item : effect.items)
    pending_results_.push_back(deps_.results.Get(item.result));
  pending_.insert(pending_.end(), effect.items.begin(), effect.items.end());
  // An urgent effect without results waits for earlier results; the results in the running commit
  // are as good as durable.
  is_urgent_ |= effect.is_urgent && !pending_.empty();
}

absl::Time GroupCommits::Next(bool has_jobs) const {
  return pacing_.Next({.results = pending_.size(), .is_urgent = is_urgent_, .has_jobs = has_jobs});
}

bool GroupCommits::IsDue(bool has_jobs) const {
  return running_ == 0 && deps_.clock.Monotonic() >= Next(has_jobs);
}

void GroupCommits::WriteNotesIfDue() {
  if (notes_.IsDue(deps_.clock.Monotonic())) WriteNotes();
}

// Writes without a sync: the sync of the next group makes the notes durable.
void GroupCommits::WriteNotes() {
  JournalProgress progress = notes_.Take(!pending_.empty(), deps_.clock.Monotonic());
  if (progress.empty()) return;
  deps_.tasks.Post([this, progress = std::move(progress)] {
    const absl::Status recorded = deps_.journal.RecordProgress(progress);
    if (!recorded.ok()) LogWarning("journal: {}", MessageOf(recorded));
  });
}

void GroupCommits::Begin(std::vector<FailureUpdate> failures) {
  WriteNotes();
  if (pending_.empty() && failures.empty()) return;
  pacing_.Begun(deps_.clock.Monotonic());
  is_urgent_ = false;
  ++running_;
  deps_.tasks.Post([this, persist = Persist{std::exchange(pending_, {})},
                    results = std::exchange(pending_results_, {}),
                    failures = std::move(failures)]() mutable {
    Ended ended = Commit(persist, failures, results);
    ended.results = std::move(results);
    {
      base::MutexLock lock(mutex_);
      ended_.push_back(std::move(ended));
    }
    deps_.has_ended();
  });
}

GroupCommits::Ended GroupCommits::Commit(const Persist& persist,
                                         const std::vector<FailureUpdate>& failures,
                                         const std::vector<StoredResultPtr>& results) {
  const absl::Time begun = deps_.clock.Monotonic();
  const int64_t started = absl::ToUnixMicros(deps_.clock.Now());
  if (deps_.keep_records) deps_.keep_records(results);
  CommitOutcome outcome = CommitGroup(deps_.store, deps_.journal, deps_.results, persist,
                                      deps_.is_sent_back, deps_.holds(), deps_.clock.Now());
  if (const absl::Status recorded = deps_.journal.RecordFailures(failures);
      !recorded.ok() && outcome.event.error.empty())
    outcome.event.error = fmt::format("writing failures to the journal: {}", MessageOf(recorded));
  deps_.trace.Add({.name = fmt::format("commit of {}", persist.items.size()),
                   .category = "commit",
                   .worker = "director",
                   .slot = 1,
                   .started_us = started,
                   .duration_us = absl::ToUnixMicros(deps_.clock.Now()) - started});
  if (!outcome.event.error.empty()) {
    LogError("{}", outcome.event.error);
    error_ = outcome.event.error;
  }
  for (const CommitOutcome::Alarm& alarm : outcome.alarms)
    LogWarning("package={} platform={} {}", alarm.package, alarm.platform, alarm.text);
  std::vector<ResultId> cooked;
  for (const Persist::Item& item : persist.items) {
    if (item.was_cooked) cooked.push_back(item.result);
  }
  deps_.committed(cooked);
  return {.outcome = std::move(outcome),
          .cooked = std::move(cooked),
          .took = deps_.clock.Monotonic() - begun};
}

std::optional<GroupCommits::Ended> GroupCommits::TakeEnded() {
  std::optional<Ended> ended;
  {
    base::MutexLock lock(mutex_);
    if (ended_.empty()) return std::nullopt;
    ended = std::move(ended_.front());
    ended_.pop_front();
  }
  --running_;
  pacing_.Ended(ended->took);
  unjournaled_.Remove(ended->outcome.event);
  return ended;
}

}  // namespace galley::director
