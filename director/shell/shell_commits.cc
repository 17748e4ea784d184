// What DirectorShell makes of the outcome of a group of results (GroupCommits).

#include "absl/container/flat_hash_set.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/shell/director_shell.h"
#include "director/shell/project_sources.h"
#include "fmt/format.h"

namespace galley::director {

void DirectorShell::Do(const Persist& effect) { commits_.Add(effect); }

void DirectorShell::StartCommit() {
  commits_.WriteNotesIfDue();
  if (commits_.IsDue(core_->has_jobs())) CommitPending();
}

void DirectorShell::CommitPending() { commits_.Begin(TakeFailures()); }

// Commit thread.
void DirectorShell::AfterCommit(const std::vector<ResultId>& cooked) {
  for (const ResultId id : cooked) {
    const StoredResultPtr stored = results_.Get(id);
    if (stored != nullptr) limits_.Withdraw(*stored);
  }
  limits_.Save();
}

// Takes one commit's outcome, in order; false: there is none. A commit that ended after the core
// was done with the cook is counted as well, and its failure is the cook's. (After a root was
// published only late results and what they replace are left to commit: their failure is worth a
// warning.)
bool DirectorShell::TakeCommitted() {
  std::optional<GroupCommits::Ended> ended = commits_.TakeEnded();
  if (!ended.has_value()) return false;
  CommitOutcome& outcome = ended->outcome;
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
      one.OnPassingWarning(alarm.package, alarm.platform,
                           {record::WarningKind::kResultDispute, alarm.text});
    });
  if (options_.write_back != nullptr) SendBack(*ended);
  for (const Persisted::Item& item : outcome.event.items) {
    if (!item.refused.empty()) LogRefused(item);
    if (outcome.event.error.empty() && item.refused.empty())
      reports_.TakeCommitted(results_.Get(item.result)->result);
  }
  const bool has_failed = !outcome.event.error.empty();
  const std::string text = "results could not be made durable: " + outcome.event.error;
  seats_.ForEach([&](CookSeat& seat) {
    if (!has_failed || !seat.ended) return;
    if (!seat.roots.empty()) {
      seat.told.Add([text](ShellListener& one) {
        one.OnPassingWarning("", "", {record::WarningKind::kStore, text});
      });
    } else if (seat.ended->infrastructure_error.empty()) {
      seat.ended->infrastructure_error = text;
    }
  });
  if (!is_stopping_) StepCore(std::move(outcome.event));
  // All cooks that ran have ended for it. The machine may be another one for the next: a disk that
  // was full has room again.
  if (has_failed) commit_thread_.Post([this] { commits_.Forgive(); });
  return true;
}

void DirectorShell::LogRefused(const Persisted::Item& item) const {
  const StoredResultPtr stored = results_.Get(item.result);
  if (stored == nullptr) return;
  LogWarning("worker={} attempt={} package={} platform={} its result is refused: {}{}",
             stored->last_cook.worker, stored->last_cook.attempt, stored->package,
             stored->platform_name, item.refused,
             item.is_loss ? " (the store has lost something since)" : "");
}

// Sends results that were cooked here and stand to the store of other people.
void DirectorShell::SendBack(const GroupCommits::Ended& committed) {
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
