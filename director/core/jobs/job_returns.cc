#include "director/core/jobs/job_returns.h"

namespace galley::director {

// Two kinds of jobs stay: a job that holds a resource, which it would hold twice, and a job that
// has killed an executor, which may have begun by now and would kill one more.
void JobReturns::TakeBackWaiting(WorkerId id) {
  for (const AttemptId waits : workers_.Find(id)->jobs.Queue()) {
    if (attempts_.Current(waits) == nullptr || attempts_.at(waits).group != 0) continue;
    const PackageId package = attempts_.at(waits).package;
    if (graph_.blame().Of(package).own > 0) continue;
    attempts_.EndAttempt(waits, Tell::kRetract);
    claimants_.Count(package, &Counters::jobs_retracted);
    package_progress_.Advance(package);
  }
}

void JobReturns::GiveBack(WorkerId id) {
  for (const AttemptId attempt : workers_.Find(id)->jobs.All()) {
    if (attempts_.Current(attempt) == nullptr) continue;
    const PackageId package = attempts_.at(attempt).package;
    attempts_.EndAttempt(attempt, Tell::kNothing);
    package_progress_.Advance(package);
  }
}

}  // namespace galley::director
