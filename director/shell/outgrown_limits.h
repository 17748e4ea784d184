// OutgrownLimits: keeps the limits that jobs exceeded on this machine, also under earlier directors
// (KeptLimits). A kept failure answers later look-ups (LimitAnswers), is withdrawn when the package
// was cooked after all, and is on the disk before the cook has ended.
//
// Threads: Keep: the loop's; Withdraw and Save: the thread of Deps::tasks; the other functions:
// any.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "common/base/clock.h"
#include "director/core/effects.h"
#include "director/journal/kept_limits.h"
#include "director/shell/limit_answers.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/tasks.h"

namespace galley::director {

class OutgrownLimits {
 public:
  // Everything in Deps outlives OutgrownLimits.
  struct Deps {
    PresentSources sources;
    const ReportReader& reports;
    Clock& clock;
    Tasks& tasks;                                       // writes the files
    std::function<absl::Status()> may_write, has_room;  // as in ShellOptions
    std::function<void(const std::string&)> warn;       // tells people; any thread
  };
  OutgrownLimits(const std::string& state_directory, LimitAnswers::Options options, Deps deps);

  const LimitAnswers& answers() const { return answers_; }
  KeptLimits& kept() { return kept_; }
  // Replaces LimitAnswers::Options::retry_failed from now on.
  void RetryFailed(bool is_retried) { answers_.RetryFailed(is_retried); }

  // Keeps the limit, and returns a text for people to append to the error. Empty: the failure has
  // no attempt, because an earlier cook kept it. Keeps nothing while the disk is full, which may be
  // the reason of the failure.
  std::string Keep(const PackageFailed& failed);
  // Withdraws the kept limits of packages that were cooked after all, and saves.
  void WithdrawAll(const ResultTable& results, const std::vector<ResultId>& cooked);
  // Writes new limits to the disk. Limits that cannot be written are tried again at the next call.
  void Save();

 private:
  const Deps deps_;
  KeptLimits kept_;
  LimitAnswers answers_;
};

}  // namespace galley::director
