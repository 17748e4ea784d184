// WorkerTable: all workers that the core knows.
//
// A lost worker is kept for WorkersOptions::lost_max: its results are still welcome, and it may
// attach again under its id. A worker that is lost before it attached is forgotten at once. pools.h
// says which ids workers have.
//
// Cost: O(log workers) for each change; functions that look at all workers say so.
// Threads: none; owned by its layer.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "director/core/ids.h"
#include "director/core/jobs/worker.h"
#include "director/core/jobs/worker_index.h"
#include "director/core/pools.h"

namespace galley::director {

class WorkerTable {
 public:
  explicit WorkerTable(const WorkersOptions& options) : options_(options) {}
  WorkerTable(const WorkerTable&) = delete;  // WorkerIndex refers to the options
  WorkerTable& operator=(const WorkerTable&) = delete;

  // Adds a worker in kStarting, under the next free id of the pool. REQUIRES: not kForeign.
  WorkerId AddOwn(Pool pool, absl::Duration heard_at);
  // Adds a worker in kStarting. REQUIRES: the worker is unknown.
  void AddSurvivor(WorkerId worker, absl::Duration heard_at);
  // AddOwn gives ids of kLocal from here on.
  void BeginOwnAt(uint32_t first_free) { next_local_ = std::max(next_local_, first_free); }
  Worker& Attach(WorkerId worker, uint32_t slots, absl::Duration awake);
  // REQUIRES: the worker is known.
  void SetLost(WorkerId worker, absl::Duration awake);
  // Forgets the workers that were lost for too long.
  void ForgetLost(absl::Duration awake);
  void Heard(WorkerId worker, absl::Duration awake);
  // The worker waits for a machine, for any time. REQUIRES: known, and starting.
  void SetQueued(WorkerId worker) {
    workers_.at(worker).heard_at = absl::InfiniteDuration();
    workers_.at(worker).is_queued = true;
  }
  // The worker has a machine, and is about to attach. REQUIRES: known, and starting.
  void SetBeginning(WorkerId worker, absl::Duration awake) {
    workers_.at(worker).is_queued = false;
    Heard(worker, awake);
  }
  // True: some worker waits for a machine. O(workers).
  bool AnyQueued() const;
  // Calls AssignedJobs::Add.
  size_t Take(WorkerId worker, AttemptId attempt, const AssignedJob& job, absl::Duration awake);
  // Calls AssignedJobs::SetPending and AssignedJobs::SetHeld.
  size_t SetPending(WorkerId worker, const std::vector<AttemptId>& attempts,
                    const std::vector<AttemptId>* begun, absl::Duration awake);
  // Calls AssignedJobs::SetUploading.
  void SetUploading(WorkerId worker, AttemptId attempt, absl::Duration awake);
  // Calls AssignedJobs::SetSpare.
  void SetSpare(WorkerId worker, AttemptId attempt, bool is_spare, absl::Duration awake);
  // Calls AssignedJobs::Remove.
  absl::Duration Drop(WorkerId worker, AttemptId attempt, absl::Duration awake);

  Worker* Find(WorkerId worker);  // nullptr: the worker was never heard of, or is forgotten
  const Worker* Find(WorkerId worker) const;
  // A draining worker has no room, and is never idle. REQUIRES: attached.
  void SetDraining(WorkerId worker, bool is_draining);
  // A held worker has no room, and is never idle. REQUIRES: attached.
  void SetHeld(WorkerId worker, bool is_held);
  // visit(WorkerId, Worker&) for all workers, lost ones included. REQUIRES: the visit changes
  // nothing that WorkerIndex uses.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (auto& [id, worker] : workers_) visit(id, worker);
  }
  // The workers that have jobs or drain, and were silent for too long, and the workers that have
  // been starting for too long. Also marks suspect workers. O(workers), but mostly returns at once:
  // it looks 32 times within the shortest of these times.
  std::vector<WorkerId> Silent(absl::Duration awake);

  size_t size() const { return workers_.size(); }  // lost workers included
  // The number of workers that are starting or attached.
  uint32_t alive() const { return static_cast<uint32_t>(present_.size()); }
  // The number of alive workers of this pool.
  uint32_t alive(Pool pool) const { return alive_of_[static_cast<size_t>(pool)]; }
  // The number of draining workers of this pool.
  uint32_t draining(Pool pool) const { return draining_of_[static_cast<size_t>(pool)]; }
  // Forgets all refusals of all workers.
  void ForgetRefusals() {
    for (auto& [id, worker] : workers_) worker.refuses.clear();
  }
  // True: a worker that was asked for within the last minute may attach on another machine than
  // `machine`. O(workers).
  bool ExpectsBeside(uint32_t machine, absl::Duration awake) const;
  uint64_t losses() const { return losses_; }  // so far
  // Sorted.
  const absl::btree_set<WorkerId>& present() const { return present_; }
  const WorkerIndex& attached() const { return attached_; }

  // The workers that have jobs, lost ones included. O(workers).
  std::vector<WorkerId> Holding() const;
  // CHECKs the indexes and counts. O(workers).
  void CheckInvariants() const;

 private:
  void SetPresent(WorkerId id, bool is_present);
  WorkersOptions options_;
  absl::btree_map<WorkerId, Worker> workers_;
  // The lost workers, by the time of their loss; some have come back since.
  std::deque<std::pair<absl::Duration, WorkerId>> lost_;
  absl::btree_set<WorkerId> present_;
  WorkerIndex attached_{options_};
  std::array<uint32_t, kPoolCount> alive_of_{}, draining_of_{};  // of the present workers
  uint64_t losses_ = 0;
  absl::Duration looked_at_ = -absl::InfiniteDuration();
  uint32_t next_local_ = 0, next_launched_ = kLaunchedWorkers;
};

}  // namespace galley::director
