// GroupCommits: the results of cooks on their way to the store and the journal. They are made
// durable in groups, one group at a time; what arrives while one is committed, and shortly after it
// (CommitPacing), is the next. With each group goes what the journal is to learn of a cook that has
// not ended (ProgressNotes), and the failures that came meanwhile.
//
// Threads: the loop's, but for error() and Forgive(), which are of the thread in Deps.
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
#include "director/core/events.h"
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
    absl::Duration took;                   // without the tasks that were before it on the thread
  };
  // All outlive it.
  struct Deps {
    store::Store& store;
    Journal& journal;
    ResultTable& results;
    Trace& trace;
    Clock& clock;
    Tasks& tasks;               // in order with all else that is posted there
    bool is_sent_back = false;  // to a store of other people
    // Called on the thread. What says whether a result holds in the files that the journal's
    // differences begin from:
    std::function<std::function<bool(const StoredResult&)>()> holds;
    std::function<void(const std::vector<ResultId>& cooked)> committed;
    std::function<void()> has_ended;  // TakeEnded has one more
  };

  explicit GroupCommits(Deps deps) : deps_(std::move(deps)), unjournaled_(&deps_.results) {}

  void Add(const Persist& effect);
  ProgressNotes& notes() { return notes_; }
  // The packages of results that the journal does not name yet and that do not hold.
  std::vector<std::string> Outdated(const std::function<bool(const StoredResult&)>& holds) const {
    return unjournaled_.Outdated(holds);
  }

  void WriteNotesIfDue();
  // Whether a group is to begin now; `has_jobs`: more results will come.
  bool IsDue(bool has_jobs) const;
  // Begins a group with all that waits, behind the one that runs. `failures` go to the journal with
  // it.
  void Begin(std::vector<FailureUpdate> failures);
  // What ended, in order; nullopt: nothing.
  std::optional<Ended> TakeEnded();

  bool is_running() const { return running_ > 0; }
  bool has_pending() const { return !pending_.empty(); }
  // The results that wait.
  const std::vector<StoredResultPtr>& pending() const { return pending_results_; }
  // When the next group begins.
  absl::Time Next(bool has_jobs) const;

  // Thread: a group failed, and later tasks must not rely on it; empty: none since Forgive.
  const std::string& error() const { return error_; }
  void Forgive() { error_.clear(); }

 private:
  void WriteNotes();
  Ended Commit(const Persist& persist, const std::vector<FailureUpdate>& failures);

  const Deps deps_;
  UnjournaledResults unjournaled_;
  std::vector<Persist::Item> pending_;
  std::vector<StoredResultPtr> pending_results_;  // theirs: held until they are committed
  ProgressNotes notes_;
  CommitPacing pacing_;
  int running_ = 0;
  bool is_urgent_ = false;
  std::string error_;  // the thread's

  base::Mutex mutex_;
  std::deque<Ended> ended_ GALLEY_GUARDED_BY(mutex_);  // the loop has not taken them yet
};

}  // namespace galley::director
