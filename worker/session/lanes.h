// Lanes: which job runs in which executor of a session.
//
// A lane is an executor. There are twice as many lanes as slots, because a pending job (its
// programs wait, pending_watch.h) leaves its slot to another job: at most `slots` jobs run and at
// most `slots` are pending. When more jobs wait, the first `slots` of them are pending. A pending
// job that goes on needs no free slot: if too many jobs run then, no job begins until a job has
// ended. A pending job's memory stays taken: a job begins beside it only if the needs of all
// executors fit into the memory that the director was told.
//
// A session with a single slot sends short jobs ahead, so that the executor need not wait for the
// session between jobs. No job is sent after a job that starts programs, because jobs that were
// sent cannot be retracted.
//
// Pure. Threads: one owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "worker/session/governor.h"
#include "worker/session/job_queue.h"

namespace galley::worker {

inline uint32_t LanesFor(uint32_t slots) { return 2 * slots; }

// The jobs that an executor has, with the running job, are expected to take at most kAheadUsMax
// together.
inline constexpr int64_t kAheadUsMax = 20'000;
inline constexpr size_t kAheadJobsMax = 64;

class Lanes {
 public:
  explicit Lanes(uint32_t slots) : slots_(slots), lanes_(LanesFor(slots)) {}

  // The lowest free lane if a slot is free, or the busy lane for a job to be sent ahead; nullopt:
  // none.
  std::optional<uint32_t> FindLane(const PlannedJob& job) const;
  // Whether this job and the jobs of all lanes fit into `limit_bytes` together; 0: the limit is
  // unknown.
  bool FitsBesidePending(uint32_t lane, const PlannedJob& job, uint64_t limit_bytes) const;
  // True: no job may begin for want of memory; running jobs go on.
  bool IsPaused(const Governor& governor) const;

  void AddJob(uint32_t lane, const PlannedJob& job) { lanes_[lane].push_back(job); }
  // nullopt: the lane does not have the job.
  std::optional<PlannedJob> RemoveJob(uint32_t lane, uint64_t attempt);
  // Notes whether the programs of the attempt only wait. True: this has changed.
  bool SetWaiting(uint64_t attempt, bool is_waiting);

  // The attempts that have left their slots to others.
  std::span<const uint64_t> pending() const {
    return std::span(waiting_).first(std::min<size_t>(waiting_.size(), slots_));
  }
  bool HasFreeSlot() const { return SlotsHeld() < slots_; }
  bool IsRunning() const;

 private:
  bool HoldsSlot(uint32_t lane) const;
  uint32_t SlotsHeld() const;

  const uint32_t slots_;
  std::vector<std::deque<PlannedJob>> lanes_;  // the first job of each runs
  std::vector<uint64_t> waiting_;              // attempts; the first `slots_` of them are pending
};

}  // namespace galley::worker
