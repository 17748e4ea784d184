// OutgrownLimits: the limits that jobs outgrew on this machine, for this director and for earlier
// directors (KeptLimits). A failure of that kind is kept, answers later look-ups (LimitAnswers), is
// withdrawn when the package was cooked after all, and is on the disk before the cook has ended.
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

  // Keeps the limit, and returns the text for people that goes beside the error. A failure that an
  // earlier cook kept has no attempt. A full disk is the machine's fault, whatever failed because
  // of it.
  std::string Keep(const PackageFailed& failed);
  // Withdraws the limits of results that were cooked within their limits and are durable.
  void WithdrawAll(const ResultTable& results, const std::vector<ResultId>& cooked);
  // Writes new limits down. What cannot be written is tried again at the next call.
  void Save();

 private:
  const Deps deps_;
  KeptLimits kept_;
  LimitAnswers answers_;
};

}  // namespace galley::director
