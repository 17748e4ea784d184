// What no worker has the memory for now: it is *set aside* while smaller jobs go on, and when that
// lasts too long a worker is *kept* for it: it gets nothing else until there is room.
#include <algorithm>
#include <tuple>
#include <vector>

#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

constexpr size_t kAsideMax = 16;  // in a step
constexpr absl::Duration kOvertakenMax = absl::Seconds(5);

}  // namespace

// What is Blocking goes wherever it begins first; for what takes nobody knows how much there is
// room, unless a worker is kept for another.
bool CookCore::Impl::SetAside(PackageId id, std::vector<PackageId>& aside) {
  const PackageData& package = packages[id];
  if (aside.size() >= kAsideMax || package.urgency == Urgency::kBlocking) return false;
  const bool is_large = MemoryOf(id) > 0;
  if (!is_large && !kept.has_value()) return false;
  if (is_large) {
    absl::Time& since = package.work->aside_since;
    since = std::min(since, now);
    if (!kept.has_value() && now - since >= kOvertakenMax) KeepWorkerFor(id);
  }
  lifecycle.SetAside(id);
  aside.push_back(id);
  return true;
}

// The one with the least to do of those whose pending jobs, which may last, leave the room.
// O(workers).
void CookCore::Impl::KeepWorkerFor(PackageId package) {
  using Order = std::tuple<bool, absl::Duration, WorkerId>;
  Order least;
  for (const WorkerId id : workers.ring()) {
    const Worker& worker = *workers.Find(id);
    if (!MayBeKeptFor(package, id, worker)) continue;
    const WorkerView view = ViewOf(package, id, worker, 0);
    const Order order(!view.is_large_enough, view.load, id);
    if (kept.has_value() && least <= order) continue;
    kept = KeptWorker{.worker = id, .package = package};
    least = order;
  }
}

bool CookCore::Impl::MayBeKeptFor(PackageId package, WorkerId id, const Worker& worker) const {
  return worker.presence == Worker::Presence::kAttached && workers.IsUsable(worker) &&
         !blame.HasFailedOn(package, id) &&
         worker.hand.HasMemoryBesidePending(MemoryOf(package), worker.memory_bytes);
}

bool CookCore::Impl::IsKeptFrom(PackageId package, WorkerId worker) const {
  return kept.has_value() && kept->worker == worker && kept->package != package;
}

// The job that a worker is kept for goes there before all others.
void CookCore::Impl::HandOverKept() {
  if (!kept.has_value()) return;
  const PackageId id = kept->package;
  const PackageData& package = packages[id];
  const bool is_ready = (package.state == State::kLoad || package.state == State::kSaveStalled) &&
                        package.work->attempt == 0 && !WaitsToBeAlone(id) &&
                        package.work->not_before == absl::InfinitePast() &&
                        grants.IsFree(package.resource_group);
  if (!is_ready || !MayBeKeptFor(id, kept->worker, *workers.Find(kept->worker))) {
    kept.reset();
    return;
  }
  const Worker& worker = *workers.Find(kept->worker);
  if (!workers.HasRoom(worker) || !MayTake(id, kept->worker, worker)) return;
  const WorkerId to = kept->worker;
  kept.reset();
  if (!Quarantine(id) && !TakeUpResumed(id)) HandOver(id, {.worker = to});
}

}  // namespace galley::director
