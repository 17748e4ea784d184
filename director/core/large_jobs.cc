#include "director/core/large_jobs.h"

#include <algorithm>
#include <tuple>

#include "director/core/core.h"

namespace galley::director {
namespace {

constexpr size_t kAsideMax = 16;  // in a step
constexpr absl::Duration kOvertakenMax = absl::Seconds(5);

}  // namespace

// A Blocking package is not set aside: it goes wherever it begins first. A package whose memory is
// not known is set aside only while a worker is kept for another one.
bool LargeJobs::SetAside(PackageId id, std::vector<PackageId>& aside) {
  const PackageData& package = packages_[id];
  if (aside.size() >= kAsideMax || package.urgency == Urgency::kBlocking) return false;
  const bool is_large = core_.dispatching.MemoryOf(id) > 0;
  if (!is_large && !kept_.has_value()) return false;
  if (is_large) NoteOvertaken(id);
  lifecycle().SetAside(id);
  aside.push_back(id);
  return true;
}

void LargeJobs::NoteOvertaken(PackageId id) {
  absl::Time& since = packages_[id].work->aside_since;
  since = std::min(since, core_.now);
  if (!kept_.has_value() && core_.now - since >= kOvertakenMax) KeepWorkerFor(id);
}

void LargeJobs::LookAtParked() {
  for (const auto& [kind, queue] : lifecycle().parked()) {
    const PackageId first = queue.Top();
    if (!Proofs::IsQueue(kind) && packages_[first].urgency != Urgency::kBlocking &&
        IsHeldUpByMemory(first))
      NoteOvertaken(first);
  }
}

// A worker has all else that it wants, and room for a job.
bool LargeJobs::IsHeldUpByMemory(PackageId id) const {
  const uint64_t bytes = core_.dispatching.MemoryOf(id);
  return bytes > 0 && std::any_of(workers_.with_room().begin(), workers_.with_room().end(),
                                  [&](const WorkerTable::Load& load) {
                                    const Worker& worker = *workers_.Find(load.worker);
                                    return core_.offers.Has(load.worker, worker, id) &&
                                           core_.reservations.MayTakeAt(id, load.worker) &&
                                           !worker.hand.HasMemoryFor(bytes, worker.memory_bytes);
                                  });
}

// Chooses the worker with the least to do among those whose pending jobs, which may last, leave
// room for the package. O(workers).
void LargeJobs::KeepWorkerFor(PackageId package) {
  using Order = std::tuple<bool, absl::Duration, WorkerId>;
  Order least;
  for (const WorkerId id : workers_.ring()) {
    const Worker& worker = *workers_.Find(id);
    if (!MayBeKeptFor(package, id, worker)) continue;
    const PlacementCandidate view = core_.placing.ViewOf(package, id, worker, 0);
    const Order order(!view.is_large_enough, view.load, id);
    if (kept_.has_value() && least <= order) continue;
    kept_ = KeptWorker{.worker = id, .package = package};
    least = order;
  }
}

bool LargeJobs::MayBeKeptFor(PackageId package, WorkerId id, const Worker& worker) const {
  return worker.presence == Worker::Presence::kAttached && !worker.is_draining &&
         core_.offers.Has(id, worker, package) && workers_.IsUsable(worker) &&
         core_.reservations.MayTakeAt(package, id) && !graph().blame.HasFailedOn(package, id) &&
         core_.trust.MayTake(package, id, worker) &&
         worker.hand.HasMemoryBesidePending(core_.dispatching.MemoryOf(package),
                                            worker.memory_bytes);
}

bool LargeJobs::IsKeptFrom(PackageId package, WorkerId worker) const {
  return kept_.has_value() && kept_->worker == worker && kept_->package != package;
}

// The job that a worker is kept for goes there before all others.
void LargeJobs::HandOverKept() {
  if (!kept_.has_value()) return;
  const PackageId id = kept_->package;
  const PackageData& package = packages_[id];
  const bool is_ready = (package.state == State::kLoad || package.state == State::kSaveStalled) &&
                        package.work->attempt == 0 && !graph().aloneness.WaitsToBeAlone(id) &&
                        package.work->not_before == absl::InfinitePast() &&
                        core_.dispatching.HasResources(id);
  if (!is_ready || !MayBeKeptFor(id, kept_->worker, *workers_.Find(kept_->worker))) {
    kept_.reset();
    return;
  }
  const Worker& worker = *workers_.Find(kept_->worker);
  if (!workers_.HasRoom(worker) || !core_.placing.MayTake(id, kept_->worker, worker)) return;
  const WorkerId to = kept_->worker;
  kept_.reset();
  if (!graph().faults.Quarantine(id) && !core_.survivors.TakeUp(id))
    core_.dispatching.HandOver(id, {.worker = to});
}

}  // namespace galley::director
