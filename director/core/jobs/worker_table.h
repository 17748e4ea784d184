// WorkerTable: who is there, what is in whose hands, and which reports were seen.
//
// A worker that was attached is kept for some time when it is lost: its results are still welcome,
// and it may attach again under its id. Ids tell where a worker comes from (PoolOf): those that the
// core asks for (Spawn) are dense from the beginning of their pool on; a worker that attaches of
// its own accord has an id that the shell gives.
//
// Cost: O(log workers) for each change; functions that look at all workers say so.
// Threads: none; owned by the core.
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

  // kStarting. An id that somebody else attached under is passed over. REQUIRES: not kForeign.
  WorkerId AddOwn(Pool pool, absl::Duration heard_at);
  // kStarting. REQUIRES: unknown.
  void AddSurvivor(WorkerId worker, absl::Duration heard_at);
  // AddOwn gives ids of kLocal from here on.
  void BeginOwnAt(uint32_t first_free) { next_local_ = std::max(next_local_, first_free); }
  Worker& Attach(WorkerId worker, uint32_t slots, absl::Duration awake);
  // REQUIRES: known.
  void SetLost(WorkerId worker, absl::Duration awake);
  // Those that were lost for too long are forgotten.
  void ForgetLost(absl::Duration awake);
  void Heard(WorkerId worker, absl::Duration awake);
  // It waits for a machine, for as long as that takes. REQUIRES: known, and starting.
  void SetQueued(WorkerId worker) {
    workers_.at(worker).heard_at = absl::InfiniteDuration();
    workers_.at(worker).is_queued = true;
  }
  // It has one, and is about to attach. REQUIRES: likewise.
  void SetBeginning(WorkerId worker, absl::Duration awake) {
    workers_.at(worker).is_queued = false;
    Heard(worker, awake);
  }
  // Some worker waits for a machine. O(workers).
  bool AnyQueued() const;
  // As AssignedJobs::Add.
  size_t Take(WorkerId worker, AttemptId attempt, const InHand& job, absl::Duration awake);
  // As AssignedJobs::SetPending and AssignedJobs::SetHeld.
  size_t SetPending(WorkerId worker, const std::vector<AttemptId>& attempts,
                    const std::vector<AttemptId>* begun, absl::Duration awake);
  // As AssignedJobs::SetUploading.
  void SetUploading(WorkerId worker, AttemptId attempt, absl::Duration awake);
  // As AssignedJobs::Remove.
  absl::Duration Drop(WorkerId worker, AttemptId attempt, absl::Duration awake);

  Worker* Find(WorkerId worker);  // nullptr: never heard of, or forgotten
  const Worker* Find(WorkerId worker) const;
  // One that drains has no room, and is never idle. REQUIRES: attached.
  void SetDraining(WorkerId worker, bool is_draining);
  // One that is held has no room, and is never idle. REQUIRES: attached.
  void SetHeld(WorkerId worker, bool is_held);
  // visit(WorkerId, Worker&) for all, the lost ones too. Changes nothing of what is listed.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (auto& [id, worker] : workers_) visit(id, worker);
  }
  // The workers that hold jobs, or drain, and were last heard of too long ago, or that are starting
  // for too long. Looks at all that are present, now and then only, and finds the suspect
  // meanwhile.
  std::vector<WorkerId> Silent(absl::Duration awake);

  size_t size() const { return workers_.size(); }  // the lost ones among them
  // The workers that are starting or attached; and those that are attached.
  uint32_t alive() const { return static_cast<uint32_t>(present_.size()); }
  // The workers among the alive that are of this pool.
  uint32_t alive(Pool pool) const { return alive_of_[static_cast<size_t>(pool)]; }
  // Those among them that drain.
  uint32_t draining(Pool pool) const { return draining_of_[static_cast<size_t>(pool)]; }
  // Nobody is known to refuse anything.
  void ForgetRefusals() {
    for (auto& [id, worker] : workers_) worker.refuses.clear();
  }
  // A worker that was asked for may attach soon on another machine. O(workers).
  bool ExpectsBeside(uint32_t machine, absl::Duration awake) const;
  uint64_t losses() const { return losses_; }  // so far
  // Sorted.
  const absl::btree_set<WorkerId>& present() const { return present_; }
  const WorkerIndex& attached() const { return attached_; }

  // The workers that hold jobs, whatever their presence. O(workers).
  std::vector<WorkerId> Holding() const;
  // CHECKs that the indexes are true. O(workers).
  void CheckInvariants() const;

 private:
  void SetPresent(WorkerId id, bool is_present);
  WorkersOptions options_;
  absl::btree_map<WorkerId, Worker> workers_;
  std::deque<std::pair<absl::Duration, WorkerId>> lost_;  // when; some came back since
  absl::btree_set<WorkerId> present_;
  WorkerIndex attached_{options_};
  std::array<uint32_t, kPoolCount> alive_of_{}, draining_of_{};  // of the present
  uint64_t losses_ = 0;
  absl::Duration looked_at_ = -absl::InfiniteDuration();
  uint32_t next_local_ = 0, next_launched_ = kLaunchedWorkers;
};

}  // namespace galley::director
