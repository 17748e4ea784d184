// Commits: makes the results of cooks durable, in groups (GroupCommits), and tells the outcome to
// whoever waits: the core, the cooks, the reader of reports, and the upstream cache. The failures
// of cooks go to the journal with the groups.
//
// Threads: the loop's; error(): the thread of the commits.
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
  // Everything in Deps outlives Commits.
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
    // Sends a result to the upstream cache; null: there is none.
    std::function<void(const StoredResultPtr& stored)> send_back = nullptr;
    // GroupCommits::Deps::holds; called on the thread of the commits.
    std::function<std::function<bool(const StoredResult&)>()> holds;
    // Called with the results that were cooked and are durable as far as the group is durable.
    std::function<void(const std::vector<ResultId>& cooked)> committed;
  };
  explicit Commits(const Deps& deps);

  void Persist(const director::Persist& effect) { groups_.Add(effect); }
  // Notes of attempts and faults for the journal.
  ProgressNotes& notes() { return groups_.notes(); }
  // Begins a group if the time has come; `has_jobs`: more results will come.
  void BeginDue(bool has_jobs);
  // Begins a group with everything that waits, and with the failures of the cooks.
  void BeginAll();
  // Says when the next group begins if no other event comes first. InfiniteFuture: nothing waits,
  // or a group is under way.
  absl::Time NextBegin(bool has_jobs) const;
  bool is_running() const { return groups_.is_running(); }
  // Returns the packages of results that the journal does not name yet and that no longer hold.
  std::vector<std::string> Outdated(const std::function<bool(const StoredResult&)>& holds) const {
    return groups_.Outdated(holds);
  }
  // Takes the outcome of the first group that has ended; false: no group has ended. The loop calls
  // TakeEnded once for each message, and so handles what was posted between two groups.
  bool TakeEnded();

  // Says why a group failed, after which no later task may rely on that group; empty: no group
  // failed since the last cook.
  const std::string& error() const { return groups_.error(); }

  // Totals of all cooks.
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
