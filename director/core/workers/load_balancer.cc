#include "director/core/workers/load_balancer.h"

#include <algorithm>

#include "absl/container/btree_set.h"
#include "director/core/jobs/slot_outlook.h"
#include "director/core/packages/job_costs.h"

namespace galley::director {
namespace {

// A smaller difference is over before a message arrives.
constexpr absl::Duration kWorthMoving = absl::Milliseconds(5);
// A worker on another machine has a job's inputs before the job begins: a job that begins at the
// other worker sooner by less than this would save no time there, and have all its inputs fetched
// once more.
constexpr absl::Duration kWorthFetchingAgain = absl::Milliseconds(25);
// The expected time of the jobs in an executor's hands, where its session has one slot. A job of
// unknown length is taken for as long (worker/session/session_core.cc).
constexpr absl::Duration kSentAheadMax = absl::Milliseconds(20);
// Pairs of workers that are looked at in a step; the next step goes on.
constexpr size_t kPairsMax = 256;
constexpr size_t kBusiestMax = 16;  // busiest workers that are looked at for each idle worker

// The first jobs in the queue of a worker on another machine that stay there when work is moved to
// a worker where a job would wait for `there`.
absl::btree_set<AttemptId> LeftAt(WorkerId worker, const AssignedJobs& hand, absl::Duration there,
                                  absl::Duration awake) {
  absl::btree_set<AttemptId> left;
  const absl::Duration next_slot = NextSlot(hand, awake);
  // If no job begins for want of memory, no job is in an executor's hands either.
  if (PoolOf(worker) == Pool::kLocal || next_slot == absl::InfiniteDuration()) return left;
  absl::Duration ahead, before;
  const auto add = [&](AttemptId attempt) {
    const absl::Duration expected = hand.At(attempt).expected;
    ahead += expected > absl::ZeroDuration() ? expected : kSentAheadMax;
    return expected;
  };
  for (const AssignedJobs::Running& one : hand.running()) {
    if (!one.is_pending) add(one.attempt);
  }
  for (const AttemptId waiting : hand.Queue()) {
    const absl::Duration delay = next_slot + before / hand.slots();
    before += add(waiting);
    const bool is_sent_ahead = hand.slots() == 1 && ahead <= kSentAheadMax;
    if (!is_sent_ahead && delay - there >= kWorthFetchingAgain) break;
    left.insert(waiting);
  }
  return left;
}

}  // namespace

void LoadBalancer::Balance() {
  if (workers_.attached().idle().empty() || workers_.attached().busy().empty()) return;
  size_t pairs = 0;
  std::vector<WorkerId> idle(workers_.attached().idle().begin(), workers_.attached().idle().end());
  std::ranges::stable_partition(
      idle, [this](WorkerId id) { return !IsEachFreeSlotSpare(workers_.Find(id)->jobs); });
  for (const WorkerId to : idle) {
    if (!workers_.attached().IsUsable(*workers_.Find(to)) ||
        deps_.reservations.IsKeptFrom(PackageId(), to))
      continue;
    // A copy, since jobs that are moved change the order.
    std::vector<WorkerIndex::Excess> busiest;
    for (const WorkerIndex::Excess& from : workers_.attached().busy()) {
      if (busiest.size() == kBusiestMax) break;
      busiest.push_back(from);
    }
    if (busiest.empty()) return;
    for (const WorkerIndex::Excess& from : busiest) {
      if (++pairs > kPairsMax) return;
      if (from.worker != to && RetractFor(to, from.worker)) break;
    }
  }
}

// Takes jobs from a busy worker's queue until each slot has as much work at both workers: Blocking
// jobs first, then the jobs at the queue's end; from a suspect worker, as many jobs as the idle
// worker's window holds. A job that has begun by now goes on there, and the first result counts; a
// job that holds a resource is left, since it would hold the resource twice. False: there was
// nothing to take.
bool LoadBalancer::RetractFor(WorkerId idle, WorkerId busy) {
  const Worker& from = *workers_.Find(busy);
  const Worker& to = *workers_.Find(idle);
  std::vector<AttemptId> queue = from.jobs.Queue();
  std::ranges::reverse(queue);
  std::stable_partition(queue.begin(), queue.end(), [&](AttemptId attempt) {
    return from.jobs.At(attempt).urgency == Urgency::kBlocking;
  });
  const bool is_trusted =
      workers_.attached().IsUsable(from) && !deps_.worker_trust.IsDoubtful(busy);
  const bool is_urgent = CountWaiting(from.jobs, Urgency::kBlocking) > 0;
  if (is_trusted && !is_urgent && from.jobs.expected() < kWorthMoving) return false;
  // Moving `excess` makes both workers equal for each slot; one job goes into a free slot in any
  // case.
  const double share = static_cast<double>(to.slots()) / (from.slots() + to.slots());
  const absl::Duration excess = share * from.jobs.expected() - (1 - share) * to.jobs.expected();
  const absl::btree_set<AttemptId> left =
      LeftAt(busy, from.jobs, DelayOfNew(to.jobs, step_.awake), step_.awake);
  absl::Duration moved;
  bool has_moved = false;
  for (const AttemptId id : queue) {
    if (deps_.attempts.Current(id) == nullptr) continue;
    const Attempt attempt = deps_.attempts.at(id);
    if (attempt.is_loaded || attempt.group != 0 || deps_.attempts.At(attempt.package).size() > 1 ||
        !deps_.eligibility.Has(idle, to, attempt.package) ||
        graph_.blame().HasFailedOn(attempt.package, idle) ||
        deps_.worker_choice.IsBetterElsewhere(attempt.package, to) ||
        !deps_.worker_trust.MayTake(attempt.package, idle, to) ||
        !HasMemoryFor(to.jobs, MemoryOf(packages_[attempt.package], deps_.costs),
                      to.memory_bytes) ||
        (is_trusted && (left.contains(id) || !IsBetterOffAt(id, idle))))
      continue;
    const bool is_enough =
        is_trusted ? moved + attempt.expected > excess : !workers_.attached().HasRoom(to);
    if (!to.jobs.has_free_slot() && is_enough) break;
    moved += attempt.expected;
    deps_.attempts.EndAttempt(id, Tell::kRetract);
    deps_.package_progress.Advance(attempt.package);
    if (packages_[attempt.package].state != State::kLoad) continue;
    deps_.job_handover.HandOver(attempt.package, {.worker = idle});
    claimants_.Count(attempt.package, &Counters::jobs_retracted);
    has_moved = true;
  }
  return has_moved;
}

// A job that was put where its inputs are warm is not moved when its wait there is shorter than the
// time that the warm inputs save.
bool LoadBalancer::IsBetterOffAt(AttemptId id, WorkerId idle) const {
  const Attempt& attempt = deps_.attempts.at(id);
  if (attempt.saved <= absl::ZeroDuration()) return true;
  const absl::Duration here = DelayOf(workers_.Find(attempt.worker)->jobs, id, step_.awake);
  const absl::Duration there = DelayOfNew(workers_.Find(idle)->jobs, step_.awake);
  if (here - attempt.saved > there) return true;
  return here - attempt.saved > there - deps_.worker_choice.SavedAt(attempt.package, idle);
}

// A package in hand became Blocking: an attempt that waits in a worker's queue is taken back, and
// goes to the front of a queue.
void LoadBalancer::TakeForward(PackageId id) {
  if (packages_[id].work == nullptr) return;  // the package is over since
  const AttemptId attempt = packages_[id].work->attempt;
  if (attempt == 0 || deps_.attempts.at(attempt).group != 0 || deps_.attempts.At(id).size() > 1)
    return;
  if (workers_.Find(deps_.attempts.at(attempt).worker)->jobs.HasBegun(attempt)) return;
  deps_.attempts.EndAttempt(attempt, Tell::kRetract);
  deps_.package_progress.Advance(id);
}

}  // namespace galley::director
