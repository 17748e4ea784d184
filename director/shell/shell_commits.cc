// DirectorShell's groups of results: when a group is committed, and what follows from its outcome.

#include "absl/container/flat_hash_set.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "director/shell/project_sources.h"
#include "fmt/format.h"

namespace galley::director {

void DirectorShell::Do(const Persist& effect) {
  unjournaled_.Add(effect);
  // (The event that brought them still has their views.)
  for (const Persist::Item& item : effect.items)
    pending_results_.push_back(results_.Get(item.result));
  pending_commit_.insert(pending_commit_.end(), effect.items.begin(), effect.items.end());
  // An urgent effect without results waits for earlier ones: those in the running commit are as
  // good as durable.
  is_commit_urgent_ |= effect.is_urgent && !pending_commit_.empty();
}

// Starts one group at a time: results that arrive while it runs, and shortly after it, are the next
// group.
void DirectorShell::StartCommit() {
  if (notes_.IsDue(clock_.Monotonic())) RecordProgress();
  if (commits_running_ > 0 || clock_.Monotonic() < NextCommit()) return;
  CommitPending();
}

// Writes the notes without a sync: the next group's sync makes them durable.
void DirectorShell::RecordProgress() {
  JournalProgress progress = notes_.Take(!pending_commit_.empty(), clock_.Monotonic());
  if (progress.empty()) return;
  commit_thread_.Post([this, progress = std::move(progress)] {
    const absl::Status recorded = journal_.RecordProgress(progress);
    if (!recorded.ok()) LogWarning("journal: {}", MessageOf(recorded));
  });
}

void DirectorShell::CommitPending() {
  RecordProgress();
  bool has_news = false;
  seats_.ForEach([&](const CookSeat& seat) { has_news |= seat.failures.has_news(); });
  if (pending_commit_.empty() && !has_news) return;
  pacing_.Begun(clock_.Monotonic());
  is_commit_urgent_ = false;
  ++commits_running_;
  std::vector<FailureUpdate> failures = TakeFailures();
  commit_thread_.Post([this, persist = Persist{std::exchange(pending_commit_, {})},
                       results = std::exchange(pending_results_, {}),
                       failures = std::move(failures)]() mutable {
    Committed committed = CommitNow(persist, failures);
    committed.results = std::move(results);
    {
      base::MutexLock lock(mutex_);
      committed_.push_back(std::move(committed));
    }
    Post(Internal([this] { TakeCommitted(); }));
  });
}

// Commit thread.
DirectorShell::Committed DirectorShell::CommitNow(const Persist& persist,
                                                  const std::vector<FailureUpdate>& failures) {
  const absl::Time begun = clock_.Monotonic();
  const int64_t started = absl::ToUnixMicros(clock_.Now());
  const ProjectSources sources(commit_world_, tools_);
  CommitOutcome outcome = CommitGroup(
      store_, journal_, results_, persist, options_.write_back != nullptr,
      [&sources](const StoredResult& stored) { return FilesStillHold(sources, stored); },
      clock_.Now());
  if (const absl::Status recorded = journal_.RecordFailures(failures);
      !recorded.ok() && outcome.event.error.empty())
    outcome.event.error = fmt::format("writing failures to the journal: {}", MessageOf(recorded));
  trace_.Add({.name = fmt::format("commit of {}", persist.items.size()),
              .category = "commit",
              .worker = "director",
              .slot = 1,
              .started_us = started,
              .duration_us = absl::ToUnixMicros(clock_.Now()) - started});
  if (!outcome.event.error.empty()) {
    LogError("{}", outcome.event.error);
    commit_error_ = outcome.event.error;
  }
  for (const CommitOutcome::Alarm& alarm : outcome.alarms)
    LogWarning("package={} platform={} {}", alarm.package, alarm.platform, alarm.text);
  std::vector<ResultId> cooked;
  for (const Persist::Item& item : persist.items) {
    if (!item.was_cooked) continue;
    cooked.push_back(item.result);
    const StoredResultPtr stored = results_.Get(item.result);
    if (stored != nullptr) kept_limits_.Withdraw(stored->weak_key, stored->observed);
  }
  SaveLimits();
  return {.outcome = std::move(outcome),
          .cooked = std::move(cooked),
          .took = clock_.Monotonic() - begun};
}

// Takes one commit's outcome, in order; false: there is none. A commit that ended after the core
// was done with the cook is counted as well, and its failure is the cook's. (After a root was
// published only late results and what they replace are left to commit: their failure is worth a
// warning.)
bool DirectorShell::TakeCommitted() {
  Committed committed;
  {
    base::MutexLock lock(mutex_);
    if (committed_.empty()) return false;
    committed = std::move(committed_.front());
    committed_.pop_front();
  }
  CommitOutcome& outcome = committed.outcome;
  --commits_running_;
  pacing_.Ended(committed.took);
  for (const auto& [cook, bytes] : outcome.bytes) {
    bytes_stored_ += bytes.stored;
    bytes_deduplicated_ += bytes.deduplicated;
    if (CookSeat* const seat = seats_.Find(cook); seat != nullptr) {
      seat->bytes_stored += bytes.stored;
      seat->bytes_deduplicated += bytes.deduplicated;
    }
  }
  for (const CommitOutcome::Alarm& alarm : outcome.alarms)
    seats_.Tell([alarm](ShellListener& one) {
      one.OnPassingWarning(alarm.package, alarm.platform, alarm.text);
    });
  if (options_.write_back != nullptr) SendBack(committed);
  unjournaled_.Remove(outcome.event);
  for (const Persisted::Item& item : outcome.event.items) {
    if (outcome.event.error.empty() && item.refused.empty())
      reports_.TakeCommitted(results_.Get(item.result)->result);
  }
  const bool has_failed = !outcome.event.error.empty();
  const std::string text = "results could not be made durable: " + outcome.event.error;
  seats_.ForEach([&](CookSeat& seat) {
    if (!has_failed || !seat.ended) return;
    if (!seat.roots.empty()) {
      seat.told.Add([text](ShellListener& one) { one.OnPassingWarning("", "", text); });
    } else if (seat.ended->infrastructure_error.empty()) {
      seat.ended->infrastructure_error = text;
    }
  });
  if (!is_stopping_) StepCore(std::move(outcome.event));
  // All cooks that ran have ended for it. The machine may be another one for the next: a disk that
  // was full has room again.
  if (has_failed) commit_thread_.Post([this] { commit_error_.clear(); });
  return true;
}

// Sends results that were cooked here and stand to the store of other people.
void DirectorShell::SendBack(const Committed& committed) {
  const Persisted& event = committed.outcome.event;
  if (!event.error.empty()) return;
  const absl::flat_hash_set<ResultId> cooked(committed.cooked.begin(), committed.cooked.end());
  for (const Persisted::Item& item : event.items) {
    if (!item.refused.empty() || !cooked.contains(item.result)) continue;
    const StoredResultPtr stored =
        results_.Get(item.instead == nullptr ? item.result : item.instead->id);
    if (stored != nullptr && IsSentBack(*stored, item.instead != nullptr))
      options_.write_back->Add(stored);
  }
}

}  // namespace galley::director
