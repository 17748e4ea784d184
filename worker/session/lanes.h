// Lanes: which job runs in which executor of a session.
//
// A lane is an executor. There are twice as many lanes as slots, because a pending job (its
// programs wait, pending_watch.h) leaves its slot to another job: at most `slots` jobs run and at
// most `slots` are pending. When more jobs wait, those that waited first are pending. A job that
// goes on needs no free slot: if too many run then, no job begins until one of them has ended. A
// pending job's memory stays taken: a job begins beside it only if the needs of all executors fit
// into the memory that the director was told.
//
// The only slot of a session gets its next jobs ahead while they are short, so that its executor
// need not wait for the session between them; but no job is sent behind a job that starts programs,
// because it could not be had back.
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

// The jobs in an executor's hands, with the running job, are expected to take at most kAheadUsMax
// together. They cannot be retracted.
inline constexpr int64_t kAheadUsMax = 20'000;
inline constexpr size_t kAheadJobsMax = 64;

class Lanes {
 public:
  explicit Lanes(uint32_t slots) : slots_(slots), lanes_(LanesFor(slots)) {}

  // The lowest free lane while a slot is free, or the busy lane for a short job; nullopt: none.
  std::optional<uint32_t> FindLane(const PlannedJob& job) const;
  // Whether this job and the jobs of all lanes fit into `limit_bytes` together; 0: the limit is
  // unknown.
  bool FitsBesidePending(uint32_t lane, const PlannedJob& job, uint64_t limit_bytes) const;
  // True: no job may begin for want of memory; running jobs go on.
  bool IsPaused(const Governor& governor) const;

  void AddJob(uint32_t lane, const PlannedJob& job) { lanes_[lane].push_back(job); }
  // nullopt: the lane does not have the job.
  std::optional<PlannedJob> RemoveJob(uint32_t lane, uint64_t attempt);
  // Notes whether the programs of the attempt only wait. True: that is news.
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
