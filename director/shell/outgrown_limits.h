// OutgrownLimits: the limits that jobs outgrew on this machine, of this director and of earlier
// ones (KeptLimits): a failure of that kind is kept, answers the look-ups that come after it
// (LimitAnswers), is withdrawn when the package was cooked all the same, and is on the disk before
// the cook has ended.
//
// Threads: Keep: the loop's; Withdraw and Save: that in Deps; the rest: any.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "common/base/clock.h"
#include "director/core/events.h"
#include "director/journal/kept_limits.h"
#include "director/shell/limit_answers.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/sources.h"
#include "director/shell/tasks.h"

namespace galley::director {

class OutgrownLimits {
 public:
  // All outlive it.
  struct Deps {
    PresentSources sources;
    const ReportReader& reports;
    Clock& clock;
    Tasks& tasks;                                       // writes files
    std::function<absl::Status()> may_write, has_room;  // as ShellOptions says
    std::function<void(const std::string&)> warn;       // people; any thread
  };
  OutgrownLimits(const std::string& state_directory, LimitAnswers::Options options, Deps deps);

  const LimitAnswers& answers() const { return answers_; }
  KeptLimits& kept() { return kept_; }
  // In place of LimitAnswers::Options::retry_failed from now on.
  void RetryFailed(bool is_retried) { answers_.RetryFailed(is_retried); }

  // Keeps the limit and returns what a person is told of that beside the error. (A failure that was
  // kept by an earlier cook has no attempt.) A disk without room is the machine's fault, whatever
  // failed for it.
  std::string Keep(const PackageFailed& failed);
  // These results were cooked within their limits, and are durable.
  void WithdrawAll(const ResultTable& results, const std::vector<ResultId>& cooked);
  // Writes down what is new. What cannot be written is tried again at the next call.
  void Save();

 private:
  const Deps deps_;
  KeptLimits kept_;
  LimitAnswers answers_;
};

}  // namespace galley::director
