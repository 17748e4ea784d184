#include "director/core/handing_back.h"

#include "director/core/core.h"

namespace galley::director {

// Not one that holds a resource, which it would hold twice, nor one that has killed an executor: it
// may have begun by now, and would kill one more.
void HandingBack::TakeBackWaiting(WorkerId id) {
  for (const AttemptId waits : workers_.Find(id)->hand.Queue()) {
    if (core_.attempts.Current(waits) == nullptr || core_.attempts.at(waits).group != 0) continue;
    const PackageId package = core_.attempts.at(waits).package;
    if (graph_.blame().Of(package).own > 0) continue;
    core_.attempts.EndAttempt(waits, Tell::kRetract);
    claimants_.Count(package, &Counters::jobs_retracted);
    core_.advancing.Advance(package);
  }
}

void HandingBack::GiveBack(WorkerId id) {
  for (const AttemptId attempt : workers_.Find(id)->hand.All()) {
    if (core_.attempts.Current(attempt) == nullptr) continue;
    const PackageId package = core_.attempts.at(attempt).package;
    core_.attempts.EndAttempt(attempt, Tell::kNothing);
    core_.advancing.Advance(package);
  }
}

}  // namespace galley::director
