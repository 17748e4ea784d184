// Commits: makes the results of cooks durable, in groups (GroupCommits), and tells the outcome to
// the core, the cooks, the ReportReader and the upstream cache. The failures of cooks and asks are
// written to the journal with the groups.
//
// Threads: the loop's; error(): the thread of the commits.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "director/shell/active_cooks.h"
#include "director/shell/ask_failures.h"
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
    // Called after each group, with the results in it that were cooked. The group may have failed.
    std::function<void(const std::vector<ResultId>& cooked)> committed;
    // Puts the blobs from which the outputs of the results can be made again. Called on the thread
    // of the commits, before the group is committed, which makes them durable. The results may hold
    // null pointers. Null: they are not kept.
    std::function<void(std::span<const StoredResultPtr> results)> keep_records = nullptr;
  };
  explicit Commits(const Deps& deps);

  void Persist(const director::Persist& effect) { groups_.Add(effect); }
  // Notes of attempts and faults for the journal.
  ProgressNotes& notes() { return groups_.notes(); }
  // Failures of asks for the journal.
  AskFailures& ask_failures() { return ask_failures_; }
  // Begins a group if one is due. `has_jobs`: more results will come.
  void BeginDue(bool has_jobs);
  // Begins a group with all waiting results and the failures of the cooks and asks.
  void BeginAll();
  // Returns when the next group begins, unless an event comes first. InfiniteFuture: no result
  // waits, or a group is running.
  absl::Time NextBegin(bool has_jobs) const;
  bool is_running() const { return groups_.is_running(); }
  // Returns the packages of results that are not in the journal yet and no longer hold.
  std::vector<std::string> Outdated(const std::function<bool(const StoredResult&)>& holds) const {
    return groups_.Outdated(holds);
  }
  // Handles the first group that has ended; false: no group has ended. The loop calls TakeEnded
  // once for each message, so that messages between two groups are handled in order.
  bool TakeEnded();

  // Says why a group failed; later tasks must not rely on that group. Empty: no group has failed
  // since the last failure was told.
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
  AskFailures ask_failures_;
  uint64_t bytes_stored_ = 0, bytes_deduplicated_ = 0;
};

}  // namespace galley::director
