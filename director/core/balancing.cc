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
  while (true) {
    const WorkerId idle = workers.Idle();
    if (!idle.valid() || !RetractFor(idle)) return;
  }
}

// Takes from the end of the busiest worker's queue until both have the same before them. A job that
// has begun by now goes on there, and the first result counts.
bool CookCore::Impl::RetractFor(WorkerId idle) {
  const WorkerId busiest = workers.Busiest();
  if (!busiest.valid() || busiest == idle) return false;
  const Worker& from = *workers.Find(busiest);
  const Worker& to = *workers.Find(idle);
  const absl::Duration difference = from.expected - to.expected;
  if (difference < kWorthMoving) return false;
  const std::vector<AttemptId> queued(std::next(from.in_hand.begin(), from.slots),
                                      from.in_hand.end());
  absl::Duration moved;
  bool has_moved = false;
  for (auto at = queued.rbegin(); at != queued.rend(); ++at) {
    const Attempt& attempt = attempts.at(*at);
    const PackageId id = attempt.package;
    if (packages[id].work->is_loaded || blame.LastWorker(id) == idle) continue;
    if (has_moved && moved + attempt.expected > difference / 2) break;
    moved += attempt.expected;
    EndAttempt(*at, Tell::kRetract);
    Advance(id);
    if (packages[id].state != State::kLoad || !grants.IsFree(packages[id].resource_group)) continue;
    HandOver(id, idle);
    ++counters.jobs_retracted;
    has_moved = true;
  }
  return has_moved;
}

}  // namespace galley::director
