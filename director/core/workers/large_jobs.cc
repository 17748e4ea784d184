#include "director/core/workers/large_jobs.h"

#include <algorithm>
#include <tuple>

#include "director/core/jobs/slot_outlook.h"
#include "director/core/packages/job_costs.h"

namespace galley::director {
namespace {

constexpr size_t kAsideMax = 16;  // in a step
constexpr absl::Duration kOvertakenMax = absl::Seconds(5);

}  // namespace

// A Blocking package is not set aside: it goes wherever it begins first. A package of unknown
// memory is set aside only while a worker is kept for another package.
bool LargeJobs::SetAside(PackageId id, std::vector<PackageId>& aside) {
  const PackageData& package = packages_[id];
  if (aside.size() >= kAsideMax || package.urgency == Urgency::kBlocking) return false;
  const bool is_large = MemoryOf(packages_[id], deps_.costs) > 0;
  if (!is_large && !kept_worker_.has_value()) return false;
  if (is_large) NoteOvertaken(id);
  graph_.lifecycle().SetAside(id);
  aside.push_back(id);
  return true;
}

void LargeJobs::NoteOvertaken(PackageId id) {
  absl::Time& since = packages_[id].work->aside_since;
  since = std::min(since, step_.now);
  if (!kept_worker_.has_value() && step_.now - since >= kOvertakenMax) KeepWorkerFor(id);
}

void LargeJobs::LookAtParked() {
  for (const auto& [kind, queue] : graph_.queues().parked()) {
    const PackageId first = queue.Top();
    const Urgency urgency = packages_[first].urgency;
    if (!HeldResults::IsQueue(kind) && urgency != Urgency::kBlocking &&
        urgency != Urgency::kSpare && IsHeldUpByMemory(first))
      NoteOvertaken(first);
  }
}

// True: some worker meets all other needs of the package, and has room for a job.
bool LargeJobs::IsHeldUpByMemory(PackageId id) const {
  const uint64_t bytes = MemoryOf(packages_[id], deps_.costs);
  return bytes > 0 &&
         std::ranges::any_of(workers_.attached().with_room(), [&](const WorkerIndex::Load& load) {
           const Worker& worker = *workers_.Find(load.worker);
           return deps_.eligibility.Has(load.worker, worker, id) &&
                  deps_.reservations.MayTakeAt(id, load.worker) &&
                  !HasMemoryFor(worker.jobs, bytes, worker.memory_bytes);
         });
}

// Keeps the worker with the least work among the workers whose pending jobs, which may last, leave
// room for the package. O(workers).
void LargeJobs::KeepWorkerFor(PackageId package) {
  using Order = std::tuple<bool, absl::Duration, WorkerId>;
  Order least;
  for (const WorkerId id : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(id);
    if (!MayBeKeptFor(package, id, worker)) continue;
    const PlacementCandidate view = deps_.worker_choice.ViewOf(package, id, worker, 0);
    const Order order(!view.is_large_enough, view.load, id);
    if (kept_worker_.has_value() && least <= order) continue;
    kept_worker_ = KeptWorker{.worker = id, .package = package};
    least = order;
  }
}

bool LargeJobs::MayBeKeptFor(PackageId package, WorkerId id, const Worker& worker) const {
  return worker.presence == Worker::Presence::kAttached && !worker.is_draining &&
         deps_.eligibility.Has(id, worker, package) && workers_.attached().IsUsable(worker) &&
         deps_.reservations.MayTakeAt(package, id) && !graph_.blame().HasFailedOn(package, id) &&
         deps_.worker_trust.MayTake(package, id, worker) &&
         HasMemoryBesidePending(worker.jobs, MemoryOf(packages_[package], deps_.costs),
                                worker.memory_bytes);
}

// Hands the job that a worker is kept for to that worker before all other jobs.
void LargeJobs::HandOverKept() {
  if (!kept_worker_.has_value()) return;
  const PackageId id = kept_worker_->package;
  const PackageData& package = packages_[id];
  const bool is_ready = (package.state == State::kLoad || package.state == State::kSaveStalled) &&
                        package.work->attempt == 0 && !deps_.exclusive_run.WaitsToBeAlone(id) &&
                        package.work->not_before == absl::InfinitePast() &&
                        package.urgency != Urgency::kSpare && deps_.job_queue.HasResources(id);
  if (!is_ready || !MayBeKeptFor(id, kept_worker_->worker, *workers_.Find(kept_worker_->worker))) {
    kept_worker_.reset();
    return;
  }
  const Worker& worker = *workers_.Find(kept_worker_->worker);
  if (!workers_.attached().HasRoom(worker) ||
      !deps_.worker_choice.MayTake(id, kept_worker_->worker, worker))
    return;
  const WorkerId to = kept_worker_->worker;
  kept_worker_.reset();
  if (!deps_.faults.Quarantine(id) && !deps_.survivors.TakeUp(id))
    deps_.job_handover.HandOver(id, {.worker = to});
}

}  // namespace galley::director
