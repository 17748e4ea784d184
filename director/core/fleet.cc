#include "director/core/fleet.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "director/core/core.h"

namespace galley::director {
namespace {

constexpr absl::Duration kLookPeriod = absl::Seconds(1);

}  // namespace

uint32_t Fleet::most() const { return options_.workers + options_.fleet.max; }

void Fleet::Keep() {
  SpawnUpTo(Pool::kLocal, options_.workers);
  if (options_.fleet.max == 0) return;
  SpawnUpTo(Pool::kLaunched, Wanted());
  if (!lifecycle().parked().empty()) SpawnUpTo(Pool::kLocal, HelpersWanted());
}

// As many as can be busy with what they alone can cook.
uint32_t Fleet::HelpersWanted() const {
  size_t busy = 0;
  for (const WorkerId id : workers_.ring())
    busy += PoolOf(id) == Pool::kLocal && !workers_.Find(id)->hand.empty();
  return static_cast<uint32_t>(
      std::min<size_t>(busy + core_.offers.CountForHelpers(), options_.fleet.helpers_max));
}

uint32_t Fleet::Wanted() const {
  const FleetOptions& fleet = options_.fleet;
  // One that made something else than others is not replaced.
  const uint32_t out = std::min(core_.proofs.quarantined(Pool::kLaunched), fleet.max - 1);
  const uint32_t most = fleet.max - out;
  const uint32_t least = std::min(fleet.min, most);
  // What they can take: neither what only helpers or others can cook, nor what waits for a resource
  // of the farm.
  const size_t demanding = core_.offers.CountForFleet();
  // (Where nobody is left who holds what others wait for, they wait for a worker.)
  const bool is_nobody_there =
      workers_.alive(Pool::kLaunched) == workers_.draining(Pool::kLaunched);
  const size_t stalled = is_nobody_there ? lifecycle().saves().size() : 0;
  const size_t ready = lifecycle().loads().size() + demanding + stalled;
  const size_t jobs = ready + workers_.jobs_in_hand();
  if (ready == 0) return least;
  absl::Duration work;
  uint64_t packages = 0;
  core_.cooks.ForEachOf(core_.cooks.active(), [&](const Cook& cook) {
    work += cook.tally.monitor.Work();
    packages += cook.tally.monitor.to_cook();
  });
  size_t parked = 0;
  for (const auto& [cooker, queue] : lifecycle().parked()) parked += queue.size();
  parked -= demanding;
  if (packages > 0)
    work *= 1 - std::min(1.0, static_cast<double>(parked) / static_cast<double>(packages));
  const double worth = absl::FDivDuration(work, fleet.start * kWorthStarts * fleet.slots);
  const double busy = std::ceil(static_cast<double>(jobs) / fleet.slots);
  const double wanted =
      std::clamp(std::min(std::ceil(worth), busy), 1.0, static_cast<double>(most));
  return std::max(static_cast<uint32_t>(wanted), least);
}

void Fleet::SpawnUpTo(Pool pool, uint32_t count) {
  const uint32_t failures = core_.worker_lives.failures(pool);
  const absl::Duration delay = failures == 0 ? absl::ZeroDuration() : BackOff(failures);
  // One that drains takes no jobs, however long it stays. (On this machine it has its slots until
  // it is gone.)
  const uint32_t leaving = pool == Pool::kLaunched ? workers_.draining(pool) : 0;
  for (uint32_t alive = workers_.alive(pool) - leaving; alive < count; ++alive)
    turn_.spawns.push_back({workers_.AddOwn(pool, core_.awake + delay), delay});
}

void Fleet::LetIdleGo() {
  if (options_.fleet.max == 0 || core_.awake - looked_at_ < kLookPeriod) return;
  looked_at_ = core_.awake;
  const uint32_t kept = core_.HasJobs() ? options_.fleet.min : 0;
  uint32_t launched = workers_.alive(Pool::kLaunched) - workers_.draining(Pool::kLaunched);
  std::vector<WorkerId> idle;
  for (const WorkerId id : workers_.ring()) {
    const Worker& worker = *workers_.Find(id);
    const Pool pool = PoolOf(id);
    if (pool == Pool::kForeign || worker.is_draining || !worker.hand.empty() ||
        core_.awake - worker.idle_since < options_.fleet.idle_max)
      continue;
    // (It would stay until these are taken. One that is held as half of a proof may wait for the
    // helper that would come in its place.)
    if (!worker.unacknowledged.empty()) continue;
    if (pool == Pool::kLaunched && launched <= kept) continue;
    if (pool == Pool::kLocal && options_.workers > 0) continue;
    launched -= pool == Pool::kLaunched;
    idle.push_back(id);
  }
  for (const WorkerId id : idle) core_.worker_lives.Drain(id);
}

}  // namespace galley::director
