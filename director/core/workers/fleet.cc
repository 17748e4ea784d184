#include "director/core/workers/fleet.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace galley::director {
namespace {

constexpr absl::Duration kLookPeriod = absl::Seconds(1);

}  // namespace

uint32_t Fleet::most() const { return options_.workers + options_.fleet.max; }

void Fleet::KeepLocal() { SpawnUpTo(Pool::kLocal, options_.workers); }

void Fleet::Keep() {
  KeepLocal();
  if (options_.fleet.max == 0) return;
  SpawnUpTo(Pool::kLaunched, Wanted());
  if (!graph_.queues().parked().empty()) SpawnUpTo(Pool::kLocal, HelpersWanted());
}

// The number of helpers that can be busy with jobs that only helpers can cook.
uint32_t Fleet::HelpersWanted() const {
  size_t busy = 0;
  for (const WorkerId id : workers_.attached().ring())
    busy += PoolOf(id) == Pool::kLocal && !workers_.Find(id)->jobs.is_idle();
  return static_cast<uint32_t>(
      std::min<size_t>(busy + deps_.parked_jobs.CountForHelpers(), options_.fleet.helpers_max));
}

bool Fleet::IsNobodyThere() const {
  return workers_.alive(Pool::kLaunched) == workers_.draining(Pool::kLaunched);
}

// True: a launched worker that could do the job, as far as is known, has been idle for a while.
bool Fleet::IsAnyIdleFor(PackageId package) const {
  return std::ranges::any_of(workers_.attached().idle(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return PoolOf(id) == Pool::kLaunched && worker.jobs.is_idle() &&
           step_.awake - worker.idle_since >= kLookPeriod &&
           deps_.eligibility.Has(id, worker, package);
  });
}

// The launched workers that have work. A worker that has just come counts among the further
// workers.
uint32_t Fleet::Busy() const {
  return static_cast<uint32_t>(std::ranges::count_if(workers_.attached().ring(), [&](WorkerId id) {
    const Worker& worker = *workers_.Find(id);
    return PoolOf(id) == Pool::kLaunched && !worker.is_draining && !worker.jobs.is_idle();
  }));
}

// How many further machines the jobs could keep busy that wait for units which the farm has, but no
// present machine has free.
uint32_t Fleet::FurtherMachines() {
  double machines = 0;
  const bool is_nobody_there = IsNobodyThere();
  const absl::btree_set<uint32_t> were_in_vain = std::exchange(in_vain_, {});
  graph_.queues().saves().ForEachLine([&](uint32_t group, PackageId first, size_t size) {
    const uint64_t jobs = std::min<uint64_t>(size, deps_.grants.FreeOfFarm(group));
    const uint64_t of_each = std::min<uint64_t>(
        options_.fleet.slots, deps_.grants.JobsOn(group, options_.fleet.offer.resources));
    if (jobs == 0 || of_each == 0) return;
    if (!is_nobody_there && (were_in_vain.contains(group) || IsAnyIdleFor(first))) {
      in_vain_.insert(group);
    } else {
      machines += static_cast<double>(jobs) / static_cast<double>(of_each);
    }
  });
  return static_cast<uint32_t>(
      std::min(std::ceil(machines), static_cast<double>(options_.fleet.max)));
}

uint32_t Fleet::Wanted() {
  const FleetOptions& fleet = options_.fleet;
  // A worker that made something else than others is not replaced.
  const uint32_t out = std::min(deps_.held_results.quarantined(Pool::kLaunched), fleet.max - 1);
  const uint32_t most = fleet.max - out;
  const uint32_t least = std::min(fleet.min, most);
  // The jobs that launched workers can take: without the jobs that only helpers or others can cook,
  // and without the jobs that wait for a resource of the farm.
  const size_t demanding = deps_.parked_jobs.CountForFleet();
  const uint32_t further = FurtherMachines();
  // Stalled jobs wait for a worker if no worker is left that holds the awaited resources.
  const size_t stalled = IsNobodyThere() ? graph_.queues().saves().size() : 0;
  const size_t ready = graph_.queues().loads().wanted_size() + demanding + stalled;
  const size_t jobs = ready + workers_.attached().jobs_in_hand(Pool::kLaunched);
  if (ready + further == 0) return least;
  const AskedWork& asked = graph_.lifecycle().asked_work();
  absl::Duration work = asked.expected;
  uint64_t packages = asked.to_cook;
  claimants_.ForEachOf(claimants_.masks().active, [&](const Claimant& cook) {
    work += cook.tally.monitor.Work();
    packages += cook.tally.monitor.to_cook();
  });
  size_t parked = 0;
  for (const auto& [cooker, queue] : graph_.queues().parked()) parked += queue.size();
  parked -= demanding;
  if (packages > 0)
    work *= 1 - std::min(1.0, static_cast<double>(parked) / static_cast<double>(packages));
  const double worth = absl::FDivDuration(work, fleet.start * kWorthStarts * fleet.slots);
  double busy = std::ceil(static_cast<double>(jobs) / fleet.slots);
  if (further > 0) busy = std::max(busy, static_cast<double>(further + Busy()));
  const double wanted =
      std::clamp(std::min(std::ceil(worth), busy), 1.0, static_cast<double>(most));
  return std::max(static_cast<uint32_t>(wanted), least);
}

// How many workers the packages that somebody waits for now could keep busy, whether or not it is
// known yet that they need a cook.
uint32_t Fleet::AwaitedByAsks() const {
  const uint32_t in_works = graph_.lifecycle().asked_work().in_works;
  const uint32_t slots = std::max(options_.fleet.slots, 1u);
  return std::min(in_works / slots + (in_works % slots != 0), options_.fleet.max);
}

void Fleet::SpawnUpTo(Pool pool, uint32_t count) {
  const uint32_t failures = start_failures_.Of(pool);
  const absl::Duration delay = failures == 0 ? absl::ZeroDuration() : BackOff(failures);
  // A draining worker takes no jobs, however long it stays. On this machine it has its slots until
  // it is gone.
  const uint32_t leaving = pool == Pool::kLaunched ? workers_.draining(pool) : 0;
  for (uint32_t alive = workers_.alive(pool) - leaving; alive < count; ++alive)
    effects_.spawns.push_back({workers_.AddOwn(pool, step_.awake + delay), delay});
}

void Fleet::LetIdleGo() {
  if (options_.fleet.max == 0 || step_.awake - looked_at_ < kLookPeriod) return;
  looked_at_ = step_.awake;
  // A wanted worker would be asked for again at once.
  const bool has_work = claimants_.masks().active != 0 && deps_.job_queue.HasLoadWork();
  const uint32_t kept = std::max(has_work ? Wanted() : 0, AwaitedByAsks());
  uint32_t launched = workers_.alive(Pool::kLaunched) - workers_.draining(Pool::kLaunched);
  std::vector<WorkerId> idle;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    const Pool pool = PoolOf(id);
    if (pool == Pool::kForeign || worker.is_draining || !worker.jobs.is_idle() ||
        step_.awake - worker.idle_since < options_.fleet.idle_max)
      continue;
    // The worker would stay until its reports are taken. A worker whose result is held for a proof
    // may wait for the helper that would come in its place.
    if (!worker.reports.unacknowledged.empty()) continue;
    if (pool == Pool::kLaunched && launched <= kept) continue;
    if (pool == Pool::kLocal && options_.workers > 0) continue;
    launched -= pool == Pool::kLaunched;
    idle.push_back(id);
  }
  for (const WorkerId id : idle) deps_.worker_loss.Drain(id);
}

}  // namespace galley::director
