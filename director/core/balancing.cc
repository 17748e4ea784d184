// Work is moved from the busiest worker to one that has nothing to do.
#include <algorithm>
#include <vector>

#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

// A difference below is settled before a message is there.
constexpr absl::Duration kWorthMoving = absl::Milliseconds(5);
// Pairs of workers that are looked at in a step; the next step goes on.
constexpr size_t kPairsMax = 256;
constexpr size_t kBusiestMax = 16;  // of them, for each that is idle

}  // namespace

void CookCore::Impl::Balance() {
  if (workers.idle().empty() || workers.busy().empty()) return;
  size_t pairs = 0;
  const std::vector<WorkerId> idle(workers.idle().begin(), workers.idle().end());
  for (const WorkerId to : idle) {
    if (!workers.IsUsable(*workers.Find(to)) || IsKeptFrom(PackageId(), to)) continue;
    // What is moved changes the order.
    std::vector<Workers::Excess> busiest;
    for (const Workers::Excess& from : workers.busy()) {
      if (busiest.size() == kBusiestMax) break;
      busiest.push_back(from);
    }
    if (busiest.empty()) return;
    for (const Workers::Excess& from : busiest) {
      if (++pairs > kPairsMax) return;
      if (from.worker != to && RetractFor(to, from.worker)) break;
    }
  }
}

// Takes from a busy worker's queue until a slot has as much before it here as there: what is
// Blocking first, then from the queue's end; of one that is suspect, what the other's window holds.
// A job that has begun by now goes on there, and the first result counts; what holds a resource is
// left, since it would hold it twice. False: there was nothing to take.
bool CookCore::Impl::RetractFor(WorkerId idle, WorkerId busy) {
  const Worker& from = *workers.Find(busy);
  const Worker& to = *workers.Find(idle);
  std::vector<AttemptId> queue = from.hand.Queue();
  std::reverse(queue.begin(), queue.end());
  std::stable_partition(queue.begin(), queue.end(), [&](AttemptId attempt) {
    return from.hand.At(attempt).urgency == Urgency::kBlocking;
  });
  const bool is_trusted = workers.IsUsable(from);
  const bool is_urgent = from.hand.blocking_count() > 0;
  if (is_trusted && !is_urgent && from.hand.expected() < kWorthMoving) return false;
  // So much moved makes both equal for each slot; into a free slot one job goes in any case.
  const double share = static_cast<double>(to.slots()) / (from.slots() + to.slots());
  const absl::Duration excess = share * from.hand.expected() - (1 - share) * to.hand.expected();
  absl::Duration moved;
  bool has_moved = false;
  for (const AttemptId id : queue) {
    if (Current(id) == nullptr) continue;
    const Attempt attempt = attempts.at(id);
    if (attempt.is_loaded || attempt.group != 0 || AttemptsAt(attempt.package).size() > 1 ||
        blame.HasFailedOn(attempt.package, idle) ||
        !to.hand.HasMemoryFor(MemoryOf(attempt.package), to.memory_bytes) ||
        (is_trusted && !IsBetterOffAt(id, idle)))
      continue;
    const bool is_enough = is_trusted ? moved + attempt.expected > excess : !workers.HasRoom(to);
    if (!to.hand.has_free_slot() && is_enough) break;
    moved += attempt.expected;
    EndAttempt(id, Tell::kRetract);
    Advance(attempt.package);
    if (packages[attempt.package].state != State::kLoad) continue;
    HandOver(attempt.package, {.worker = idle});
    ++counters.jobs_retracted;
    has_moved = true;
  }
  return has_moved;
}

// What was put where its inputs are warm is not moved for a wait that is shorter than what that
// saves.
bool CookCore::Impl::IsBetterOffAt(AttemptId id, WorkerId idle) const {
  const Attempt& attempt = attempts.at(id);
  if (attempt.saved <= absl::ZeroDuration()) return true;
  const absl::Duration here = workers.Find(attempt.worker)->hand.DelayOf(id, awake);
  const absl::Duration there = workers.Find(idle)->hand.Delay(awake);
  if (here - attempt.saved > there) return true;
  return here - attempt.saved > there - SavedAt(attempt.package, idle);
}

// A package in hand became Blocking: what waits in a worker's queue is taken back, and goes to the
// front of one.
void CookCore::Impl::TakeForward(PackageId id) {
  const AttemptId attempt = packages[id].work->attempt;
  if (attempt == 0 || attempts.at(attempt).group != 0 || AttemptsAt(id).size() > 1) return;
  if (workers.Find(attempts.at(attempt).worker)->hand.IsRunning(attempt)) return;
  EndAttempt(attempt, Tell::kRetract);
  Advance(id);
}

}  // namespace galley::director
