// Work is moved from the busiest worker to one that has nothing to do.
#include <algorithm>
#include <vector>

#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

// A difference below is settled before a message is there.
constexpr absl::Duration kWorthMoving = absl::Milliseconds(5);

}  // namespace

void CookCore::Impl::Balance() {
  for (const WorkerId idle : workers.Idle()) {
    for (const WorkerId busy : workers.Busy()) {
      if (RetractFor(idle, busy)) break;
    }
  }
}

// Takes from the end of a busy worker's queue until a slot has as much before it here as there. A
// job that has begun by now goes on there, and the first result counts; what holds a resource is
// left, since it would hold it twice. False: there was nothing to take.
bool CookCore::Impl::RetractFor(WorkerId idle, WorkerId busy) {
  const Worker& from = *workers.Find(busy);
  const Worker& to = *workers.Find(idle);
  if (from.expected < kWorthMoving) return false;
  // So much moved makes both equal for each slot; into a free slot one job goes in any case.
  const double share = static_cast<double>(to.slots) / (from.slots + to.slots);
  const absl::Duration excess = share * from.expected - (1 - share) * to.expected;
  const std::vector<AttemptId> queued(std::next(from.in_hand.begin(), from.slots),
                                      from.in_hand.end());
  absl::Duration moved;
  bool has_moved = false;
  for (auto at = queued.rbegin(); at != queued.rend(); ++at) {
    if (Current(*at) == nullptr) continue;
    const Attempt attempt = attempts.at(*at);
    const PackageId id = attempt.package;
    if (packages[id].work->is_loaded || blame.HasFailedOn(id, idle) || attempt.group != 0) continue;
    if (to.in_hand.size() >= to.slots && moved + attempt.expected > excess) break;
    moved += attempt.expected;
    EndAttempt(*at, Tell::kRetract);
    Advance(id);
    if (packages[id].state != State::kLoad) continue;
    HandOver(id, idle);
    ++counters.jobs_retracted;
    has_moved = true;
  }
  return has_moved;
}

}  // namespace galley::director
