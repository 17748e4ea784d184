// The last attempt at what outgrew its memory or its time in all others has the machine for itself:
// only then is it the package's own need that counts, and not what ran beside it.
//
// The attempt waits until all else is done: no job is in hand, none could be, and no look-up,
// commit or scan is open. While the attempt runs no other job begins, but for a Blocking one, which
// ends its aloneness. A Blocking package waits for nobody. When such attempts took
// options.alone_max in a cook, jobs that came up since wait no longer, and other last attempts are
// made beside others, as with fail_fast. The shell keeps a failure of an attempt that was alone
// (FailureCause::kLimit), for the platform that was at work. All workers are taken to be on one
// machine.
#include "director/core/cook_core_impl.h"

namespace galley::director {

// The package has one attempt left, and all others ended by limits.
bool CookCore::Impl::IsToRunAlone(PackageId package) const {
  if (!request.has_value() || request->fail_fast) return false;
  const Blame::Faults faults = blame.Of(package);
  return faults.own + 1 == options.own_fault_attempts_max && faults.limits == faults.own &&
         faults.own > 0;
}

// REQUIRES: it is in the cook, and not over.
bool CookCore::Impl::WaitsToBeAlone(PackageId package) const {
  return packages[package].work->runs_alone && packages[package].urgency != Urgency::kBlocking &&
         alone_for < options.alone_max;
}

bool CookCore::Impl::IsAllElseDone() {
  return workers.jobs_in_hand() == 0 && lifecycle.requests().empty() && look_ups_in_flight == 0 &&
         agenda.empty() && !lifecycle.equal_work().has_freed() && commits.empty() &&
         !lifecycle.has_backing_off() && stale_waiters.empty() &&
         selected_next == request->selected.size();
}

// While jobs wait that came up since.
bool CookCore::Impl::IsAloneForTooLong() const {
  if (alone == 0) return false;
  const LoadQueue& loads = lifecycle.loads();
  const bool others_wait =
      !lifecycle.saves().empty() || (!loads.empty() && !packages[loads.Top()].work->runs_alone);
  if (!others_wait) return false;
  for (const Hand::Running& one : workers.Find(attempts.at(alone).worker)->hand.running()) {
    if (one.attempt == alone) return alone_for + (awake - one.began_at) >= options.alone_max;
  }
  return false;
}

// Jobs that had begun when they were moved: they run twice, and nobody waits for these.
void CookCore::Impl::CancelRetracted() {
  for (const auto& [package, attempts_at] : retracted) {
    for (const AttemptId attempt : attempts_at) {
      const WorkerId where = attempts.at(attempt).worker;
      if (workers.Find(where)->presence == Worker::Presence::kAttached)
        DesireFor(where).cancel.push_back(attempt);
    }
  }
  retracted.clear();
}

// What a worker of an earlier director has may go on somewhere; but it may never be heard of again,
// and is not waited for.
void CookCore::Impl::HandOverAlone(PackageId id) {
  const Placement at = Place(id);
  if (!at.worker.valid()) return;
  CancelRetracted();
  HandOver(id, at);
  if (!resumed.empty()) return;
  alone = packages[id].work->attempt;
  attempts.at(alone).is_alone = true;
}

// Another job is handed over.
void CookCore::Impl::EndAloneness() {
  if (alone == 0) return;
  attempts.at(alone).is_alone = false;
  alone = 0;
}

// Memory may have been short for what ran beside it. Time is a limit of its own only for what used
// it up: what hangs would hang alone as well, and keep all others waiting.
bool CookCore::Impl::IsLimit(const WorkerReport::Failed& failed) {
  return failed.fault == WorkerReport::Fault::kMemory ||
         (failed.fault == WorkerReport::Fault::kTimeout && failed.outgrown.has_value());
}

// Of its platforms, the one whose failure is kept. An attempt that had saved another one before may
// have outgrown its limit by what that one left behind. REQUIRES: the fault is counted.
PlatformMask CookCore::Impl::KeptLimit(const Attempt& attempt,
                                       const WorkerReport::Failed& failed) const {
  const Blame::Faults faults = blame.Of(attempt.package);
  if (!IsLimit(failed) || !failed.outgrown || !attempt.is_alone || attempt.saves > 0 ||
      faults.limits != faults.own)
    return 0;
  const std::optional<PlatformIndex> platform =
      platform_sets.Index(*failed.outgrown, attempt.platform_set);
  return platform.has_value() ? MaskOf(*platform) : 0;
}

}  // namespace galley::director
