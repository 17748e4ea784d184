// GroupCommits: writes the results of cooks to the store and the journal, in groups, one group at a
// time. Results that arrive while a group is committed, or shortly afterwards (CommitPacing), form
// the next group. Each group also writes the ProgressNotes and the new failures to the journal.
//
// Threads: the loop's, except for error() and Forgive(), which belong to the thread of Deps::tasks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/store/interface/store.h"
#include "director/core/effects.h"
#include "director/journal/journal.h"
#include "director/shell/commit_group.h"
#include "director/shell/commit_pacing.h"
#include "director/shell/progress_notes.h"
#include "director/shell/result_table.h"
#include "director/shell/tasks.h"
#include "director/shell/trace.h"
#include "director/shell/unjournaled_results.h"

namespace galley::director {

class GroupCommits {
 public:
  struct Ended {
    CommitOutcome outcome;
    std::vector<ResultId> cooked;
    std::vector<StoredResultPtr> results;  // all results of the group
    absl::Duration took;                   // without the wait for earlier tasks
  };
  // Everything in Deps outlives GroupCommits.
  struct Deps {
    store::Store& store;
    Journal& journal;
    ResultTable& results;
    Trace& trace;
    Clock& clock;
    Tasks& tasks;               // in order with all other posted tasks
    bool is_sent_back = false;  // results are sent to the upstream cache
    // Called for each group on the thread of the tasks. Returns a function that says whether a
    // result holds in the files that are the base of the journal's differences.
    std::function<std::function<bool(const StoredResult&)>()> holds;
    // Called on the thread of the tasks (Commits::Deps::committed).
    std::function<void(const std::vector<ResultId>& cooked)> committed;
    std::function<void()> has_ended;  // called when TakeEnded has another group
    // Commits::Deps::keep_records.
    std::function<void(std::span<const StoredResultPtr> results)> keep_records = nullptr;
  };

  explicit GroupCommits(Deps deps) : deps_(std::move(deps)), unjournaled_(&deps_.results) {}

  void Add(const Persist& effect);
  ProgressNotes& notes() { return notes_; }
  // Returns the packages of results that are not in the journal yet and no longer hold.
  std::vector<std::string> Outdated(const std::function<bool(const StoredResult&)>& holds) const {
    return unjournaled_.Outdated(holds);
  }

  void WriteNotesIfDue();
  // Says whether a group is due. `has_jobs`: more results will come.
  bool IsDue(bool has_jobs) const;
  // Begins a group with all waiting results and `failures`, after the running group.
  void Begin(std::vector<FailureUpdate> failures);
  // Returns the next group that ended, in order; nullopt: none.
  std::optional<Ended> TakeEnded();

  bool is_running() const { return running_ > 0; }
  bool has_pending() const { return !pending_.empty(); }
  // The waiting results.
  const std::vector<StoredResultPtr>& pending() const { return pending_results_; }
  // Returns when the next group is due.
  absl::Time Next(bool has_jobs) const;

  // Thread of the tasks: says why a group failed; later tasks must not rely on that group. Empty:
  // no group has failed since Forgive.
  const std::string& error() const { return error_; }
  void Forgive() { error_.clear(); }

 private:
  void WriteNotes();
  Ended Commit(const Persist& persist, const std::vector<FailureUpdate>& failures,
               const std::vector<StoredResultPtr>& results);

  const Deps deps_;
  UnjournaledResults unjournaled_;
  std::vector<Persist::Item> pending_;
  std::vector<StoredResultPtr> pending_results_;  // held until they are committed
  ProgressNotes notes_;
  CommitPacing pacing_;
  int running_ = 0;
  bool is_urgent_ = false;
  std::string error_;  // belongs to the thread of the tasks

  base::Mutex mutex_;
  std::deque<Ended> ended_ GALLEY_GUARDED_BY(mutex_);  // groups that the loop has not taken yet
};

}  // namespace galley::director
