// GroupCommits: carries the results of cooks to the store and the journal. The results are made
// durable in groups, one group at a time; results that arrive while a group is committed, and
// shortly after it (CommitPacing), form the next group. Each group also carries what the journal is
// to learn of a cook that has not ended (ProgressNotes), and the failures that came meanwhile.
//
// Threads: the loop's, except for error() and Forgive(), which belong to the thread in Deps.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
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
    std::vector<StoredResultPtr> results;  // of the group
    absl::Duration took;                   // excludes the tasks that the thread ran before
  };
  // Everything in Deps outlives GroupCommits.
  struct Deps {
    store::Store& store;
    Journal& journal;
    ResultTable& results;
    Trace& trace;
    Clock& clock;
    Tasks& tasks;               // in order with all other posted tasks
    bool is_sent_back = false;  // to the upstream cache
    // Called on the thread of the tasks. Returns what says whether a result holds in the files that
    // are the base of the journal's differences.
    std::function<std::function<bool(const StoredResult&)>()> holds;
    std::function<void(const std::vector<ResultId>& cooked)> committed;
    std::function<void()> has_ended;  // called when TakeEnded has one more group
  };

  explicit GroupCommits(Deps deps) : deps_(std::move(deps)), unjournaled_(&deps_.results) {}

  void Add(const Persist& effect);
  ProgressNotes& notes() { return notes_; }
  // Returns the packages of results that the journal does not name yet and that no longer hold.
  std::vector<std::string> Outdated(const std::function<bool(const StoredResult&)>& holds) const {
    return unjournaled_.Outdated(holds);
  }

  void WriteNotesIfDue();
  // Says whether a group is to begin now; `has_jobs`: more results will come.
  bool IsDue(bool has_jobs) const;
  // Begins a group with everything that waits, after the running group. `failures` go to the
  // journal with the group.
  void Begin(std::vector<FailureUpdate> failures);
  // Returns the next group that ended, in order; nullopt: none.
  std::optional<Ended> TakeEnded();

  bool is_running() const { return running_ > 0; }
  bool has_pending() const { return !pending_.empty(); }
  // The results that wait.
  const std::vector<StoredResultPtr>& pending() const { return pending_results_; }
  // Says when the next group begins.
  absl::Time Next(bool has_jobs) const;

  // Thread of the tasks: says why a group failed, after which no later task may rely on that group;
  // empty: no group failed since Forgive.
  const std::string& error() const { return error_; }
  void Forgive() { error_.clear(); }

 private:
  void WriteNotes();
  Ended Commit(const Persist& persist, const std::vector<FailureUpdate>& failures);

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
