// Commits: the results of cooks become durable, in groups (GroupCommits), and whoever waits for
// that learns how it ended: the core, the cooks, the reader of reports, and the store of other
// people. The failures of cooks go to the journal with the groups.
//
// Threads: the loop's; error(): that of the commits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "director/shell/active_cooks.h"
#include "director/shell/group_commits.h"
#include "director/shell/inbox.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/tasks.h"

namespace galley::director {

class Commits {
 public:
  // All outlive it.
  struct Deps {
    store::Store& store;
    Journal& journal;
    ResultTable& results;
    Trace& trace;
    Clock& clock;
    Tasks& tasks;
    Inbox& inbox;
    ActiveCooks& cooks;
    ReportReader& reports;
    // Sends a result to a store of other people; null: there is none.
    std::function<void(const StoredResultPtr& stored)> send_back = nullptr;
    // On the thread of the commits. GroupCommits::Deps::holds:
    std::function<std::function<bool(const StoredResult&)>()> holds;
    // These results were cooked, and are durable as far as the group is.
    std::function<void(const std::vector<ResultId>& cooked)> committed;
  };
  explicit Commits(const Deps& deps);

  void Persist(const director::Persist& effect) { groups_.Add(effect); }
  // What the journal is to learn of attempts and faults.
  ProgressNotes& notes() { return groups_.notes(); }
  // Begins a group if it is time to; `has_jobs`: more results will come.
  void BeginDue(bool has_jobs);
  // Begins a group with all that waits, and with the failures of the cooks.
  void BeginAll();
  // When the next group begins, if no other event comes first. InfiniteFuture: nothing waits, or a
  // group is under way.
  absl::Time NextBegin(bool has_jobs) const;
  bool is_running() const { return groups_.is_running(); }
  // The packages of results that the journal does not name yet and that do not hold.
  std::vector<std::string> Outdated(const std::function<bool(const StoredResult&)>& holds) const {
    return groups_.Outdated(holds);
  }
  // Takes the outcome of one group, the first that has ended; false: there is none. One for each
  // message: between two groups the loop takes what was posted between them.
  bool TakeEnded();

  // Why a group failed, and no later task may rely on it; empty: none did since the last cook.
  const std::string& error() const { return groups_.error(); }

  // Of all cooks.
  uint64_t bytes_stored() const { return bytes_stored_; }
  uint64_t bytes_deduplicated() const { return bytes_deduplicated_; }

 private:
  std::vector<FailureUpdate> TakeFailures();
  void CountBytes(const CommitOutcome& outcome);
  void TellFailedCommit(const std::string& error);
  void SendBack(const GroupCommits::Ended& committed);
  void LogRefused(const Persisted::Item& item) const;

  const Deps deps_;
  GroupCommits groups_;
  uint64_t bytes_stored_ = 0, bytes_deduplicated_ = 0;
};

}  // namespace galley::director
