#include "director/core/jobs/worker_index.h"

#include <algorithm>

#include "common/base/status_macros.h"
#include "director/core/jobs/slot_outlook.h"

namespace galley::director {

namespace {

// The worker's jobs without spare ones.
size_t JobsOf(const Worker& worker) { return worker.jobs.size() - worker.jobs.spare().size(); }

uint64_t UsableSlotsOf(const Worker& worker) {
  return worker.is_draining || worker.is_held ? 0 : worker.slots();
}

uint64_t FreeSlotsOf(const Worker& worker) {
  const uint64_t slots = UsableSlotsOf(worker);
  const uint64_t taken = worker.jobs.active_count() + worker.jobs.spare().size();
  return slots - std::min(slots, taken);
}

}  // namespace

void WorkerIndex::Add(WorkerId id) {
  ring_.insert(std::lower_bound(ring_.begin(), ring_.end(), id), id);
}

bool WorkerIndex::HasRoom(const Worker& worker) const {
  if (worker.is_draining || worker.is_held || JobsOf(worker) >= options_.jobs_max) return false;
  return worker.jobs.active_count() < worker.slots() + 1 ||
         worker.jobs.expected() < options_.window;
}

WorkerIndex::Load WorkerIndex::LoadOf(WorkerId id, const Worker& worker) const {
  // A worker without spare jobs comes before one that is as loaded.
  const size_t active = worker.jobs.active_count() + worker.jobs.spare().size();
  const absl::Duration jobs = absl::Microseconds(static_cast<int64_t>(active));
  return {.is_suspect = worker.is_suspect,
          .load = (worker.jobs.expected() + jobs) / worker.slots(),
          .worker = id};
}

WorkerIndex::Excess WorkerIndex::ExcessOf(WorkerId id, const Worker& worker) const {
  return {.is_trusted = !worker.is_suspect,
          .negated_load = -worker.jobs.expected() / worker.slots(),
          .worker = id};
}

void WorkerIndex::Unlist(WorkerId id, const Worker& worker) {
  if (worker.presence != Worker::Presence::kAttached) return;
  with_room_.erase(LoadOf(id, worker));
  busy_.erase(ExcessOf(id, worker));
  idle_.erase(id);
  with_spare_.erase(id);
  slots_ -= worker.slots();
  usable_slots_ -= UsableSlotsOf(worker);
  free_slots_ -= FreeSlotsOf(worker);
  jobs_in_hand_ -= JobsOf(worker);
  jobs_of_[static_cast<size_t>(PoolOf(id))] -= JobsOf(worker);
  spare_in_hand_ -= worker.jobs.spare().size();
  pending_ -= worker.jobs.pending_count();
  suspects_ -= worker.is_suspect;
}

void WorkerIndex::List(WorkerId id, const Worker& worker) {
  if (worker.presence != Worker::Presence::kAttached) return;
  if (HasRoom(worker)) with_room_.insert(LoadOf(id, worker));
  if (worker.jobs.has_waiting()) busy_.insert(ExcessOf(id, worker));
  if (worker.jobs.has_free_slot() && !worker.is_draining && !worker.is_held) idle_.insert(id);
  if (!worker.jobs.spare().empty()) with_spare_.insert(id);
  slots_ += worker.slots();
  usable_slots_ += UsableSlotsOf(worker);
  free_slots_ += FreeSlotsOf(worker);
  jobs_in_hand_ += JobsOf(worker);
  jobs_of_[static_cast<size_t>(PoolOf(id))] += JobsOf(worker);
  spare_in_hand_ += worker.jobs.spare().size();
  pending_ += worker.jobs.pending_count();
  suspects_ += worker.is_suspect;
}

void WorkerIndex::CheckInvariants(const absl::btree_map<WorkerId, Worker>& workers) const {
  size_t attached = 0, room = 0, idle = 0, busy = 0, suspects = 0, with_spare = 0;
  std::array<uint64_t, kPoolCount> jobs_of{};
  uint64_t slots = 0, usable_slots = 0, free_slots = 0, jobs = 0, spare = 0, pending = 0;
  for (const auto& [id, worker] : workers) {
    if (worker.presence != Worker::Presence::kAttached) continue;
    ++attached;
    GALLEY_CHECK(std::binary_search(ring_.begin(), ring_.end(), id));
    GALLEY_CHECK(with_room_.contains(LoadOf(id, worker)) == HasRoom(worker));
    GALLEY_CHECK(busy_.contains(ExcessOf(id, worker)) == worker.jobs.has_waiting());
    const bool is_idle = worker.jobs.has_free_slot() && !worker.is_draining && !worker.is_held;
    GALLEY_CHECK(idle_.contains(id) == is_idle);
    room += HasRoom(worker);
    busy += worker.jobs.has_waiting();
    idle += is_idle;
    const size_t of_worker = worker.jobs.spare().size();
    GALLEY_CHECK(with_spare_.contains(id) == (of_worker > 0));
    with_spare += of_worker > 0;
    spare += of_worker;
    // Every other job has its slot (SpareJobs::MakeWay).
    GALLEY_CHECK(InTheWay(worker.jobs, worker.memory_bytes).empty());
    slots += worker.slots();
    usable_slots += UsableSlotsOf(worker);
    free_slots += FreeSlotsOf(worker);
    jobs += JobsOf(worker);
    jobs_of[static_cast<size_t>(PoolOf(id))] += JobsOf(worker);
    pending += worker.jobs.pending_count();
    suspects += worker.is_suspect;
  }
  GALLEY_CHECK(attached == ring_.size() && room == with_room_.size() && busy == busy_.size() &&
               idle == idle_.size() && with_spare == with_spare_.size());
  GALLEY_CHECK(usable_slots == usable_slots_ && free_slots == free_slots_);
  GALLEY_CHECK(jobs_of == jobs_of_ && slots == slots_ && jobs == jobs_in_hand_ &&
               spare == spare_in_hand_ && pending == pending_ && suspects == suspects_);
}

}  // namespace galley::director
