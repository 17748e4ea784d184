// WorkerIndex: the attached workers, in the orders in which parts choose among them, with sums.
//
// A worker has *room* while it has fewer than `jobs_max` jobs and either fewer than slots + 1
// active jobs or less than `window` of expected time in active jobs. Pending, uploading and spare
// jobs are not active. Draining and held workers have no room. A worker that was silent for
// `suspect_after` is *suspect*: other workers are preferred.
//
// Cost: O(log workers) for each change; Add and Remove O(workers).
// Threads: none; owned by WorkerTable, which calls Unlist and List around each change of a worker.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "director/core/ids.h"
#include "director/core/jobs/worker.h"
#include "director/core/pools.h"

namespace galley::director {

struct WorkersOptions {
  absl::Duration window;
  uint32_t jobs_max = 1;
  absl::Duration silence_max = absl::InfiniteDuration();  // while it has jobs, or drains
  absl::Duration start_max = absl::InfiniteDuration();
  absl::Duration survivor_max = absl::InfiniteDuration();  // start_max if Worker::is_survivor
  absl::Duration suspect_after = absl::InfiniteDuration();
  absl::Duration lost_max = absl::InfiniteDuration();  // how long a lost worker is kept
};

class WorkerIndex {
 public:
  // `options` must outlive the index.
  explicit WorkerIndex(const WorkersOptions& options) : options_(options) {}

  // The worker attaches, or does not count as attached any more. REQUIRES: it is not listed.
  void Add(WorkerId id);
  void Remove(WorkerId id) { std::erase(ring_, id); }
  // Unlist takes an attached worker out of the orders and sums; List puts it in again. Call them
  // before and after each change of the worker.
  void Unlist(WorkerId id, const Worker& worker);
  void List(WorkerId id, const Worker& worker);

  bool HasRoom(const Worker& worker) const;
  bool IsUsable(const Worker& worker) const {  // not suspect, unless all are
    return !worker.is_suspect || suspects_ >= ring_.size();
  }
  bool has_suspects() const { return suspects_ > 0; }  // some attached worker is suspect
  // The workers with room: suspect workers last, then by least expected time for each slot. Each
  // job counts for at least 1 us, also a spare one.
  struct Load {
    bool is_suspect = false;
    absl::Duration load;
    WorkerId worker;
    friend bool operator<(const Load& a, const Load& b) {
      return std::tie(a.is_suspect, a.load, a.worker) < std::tie(b.is_suspect, b.load, b.worker);
    }
  };
  const absl::btree_set<Load>& with_room() const { return with_room_; }
  // The workers with a free slot, or with one that only a spare job has.
  const absl::btree_set<WorkerId>& idle() const { return idle_; }
  // The workers with spare jobs.
  const absl::btree_set<WorkerId>& with_spare() const { return with_spare_; }
  // The workers with waiting jobs: suspect workers first, then by most expected time for each slot.
  struct Excess {
    bool is_trusted = false;
    absl::Duration negated_load;
    WorkerId worker;
    friend bool operator<(const Excess& a, const Excess& b) {
      return std::tie(a.is_trusted, a.negated_load, a.worker) <
             std::tie(b.is_trusted, b.negated_load, b.worker);
    }
  };
  const absl::btree_set<Excess>& busy() const { return busy_; }

  const std::vector<WorkerId>& ring() const { return ring_; }  // sorted
  uint32_t count() const { return static_cast<uint32_t>(ring_.size()); }
  uint64_t slots() const { return slots_; }
  // The slots of workers that are neither draining nor held; and those of them in which no job
  // runs, not even a spare one, and none waits to run.
  uint64_t usable_slots() const { return usable_slots_; }
  uint64_t free_slots() const { return free_slots_; }
  // Without spare jobs.
  uint64_t jobs_in_hand() const { return jobs_in_hand_; }
  uint64_t jobs_in_hand(Pool pool) const { return jobs_of_[static_cast<size_t>(pool)]; }
  uint64_t spare_in_hand() const { return spare_in_hand_; }
  uint64_t pending() const { return pending_; }  // part of jobs_in_hand()
  // CHECKs that the orders and sums are those of `workers`. O(workers).
  void CheckInvariants(const absl::btree_map<WorkerId, Worker>& workers) const;

 private:
  Load LoadOf(WorkerId id, const Worker& worker) const;
  Excess ExcessOf(WorkerId id, const Worker& worker) const;

  const WorkersOptions& options_;
  std::vector<WorkerId> ring_;
  absl::btree_set<Load> with_room_;
  absl::btree_set<Excess> busy_;
  absl::btree_set<WorkerId> idle_, with_spare_;
  std::array<uint64_t, kPoolCount> jobs_of_{};
  uint64_t slots_ = 0, usable_slots_ = 0, free_slots_ = 0;
  uint64_t jobs_in_hand_ = 0, spare_in_hand_ = 0, pending_ = 0;
  size_t suspects_ = 0;
};

}  // namespace galley::director
