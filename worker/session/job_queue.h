// JobQueue: the jobs of a session that have not begun, by urgency and then in the order in which
// they came; chooses the jobs whose bytes are fetched ahead.
//
// Only a session without files fetches ahead, and only for jobs that begin soon: the director may
// give other jobs to another worker, which would fetch the same bytes once more.
//
// Pure. Threads: one owner.   Cost: AddJob and RemoveJob O(n); n <= kJobsMax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/time/time.h"

namespace galley::worker {

// PlannedJob: the facts that decide when a job begins, and on which lane.
struct PlannedJob {
  uint64_t attempt = 0;
  uint32_t urgency = 0;
  int64_t expected_us = 0;
  uint64_t memory_bytes = 0;  // expected; 0: unknown
  bool starts_programs = false;
  bool is_fetched = false;  // its bytes are fetched ahead
  uint64_t began = 0;       // the number of the memory sample before its begin
};

// Bytes are always fetched for the first jobs, one for each slot. Further jobs are added when the
// jobs with fetched bytes are fewer than the slots, or are expected to take less than half of
// kFetchAheadMax for each slot; then as many as kFetchAheadMax for each slot allows.
inline constexpr absl::Duration kFetchAheadMax = absl::Milliseconds(400);

class JobQueue {
 public:
  JobQueue(uint32_t slots, bool fetches_ahead) : slots_(slots), fetches_ahead_(fetches_ahead) {}

  // Puts the job behind all jobs that are as urgent.
  void AddJob(const PlannedJob& job);
  // Puts a job whose executor could not be started before all others.
  void PutBack(const PlannedJob& job) { InsertJob(jobs_.begin(), job); }
  // nullopt: the job is not in the queue.
  std::optional<PlannedJob> RemoveJob(uint64_t attempt);
  // The attempts whose bytes must be fetched now, in this order; each is named once.
  std::vector<uint64_t> TakeJobsToFetch();

  size_t size() const { return jobs_.size(); }
  bool empty() const { return jobs_.empty(); }
  const PlannedJob& operator[](size_t i) const { return jobs_[i]; }
  absl::Duration expected() const { return absl::Microseconds(expected_us_); }

 private:
  void InsertJob(std::deque<PlannedJob>::const_iterator before, const PlannedJob& job);
  void CountFetched(const PlannedJob& job, int sign);
  bool IsFetchedBelow(absl::Duration limit) const;

  const uint32_t slots_;
  const bool fetches_ahead_;
  std::deque<PlannedJob> jobs_;
  int64_t expected_us_ = 0;  // of all jobs
  size_t fetched_ = 0;       // jobs whose bytes are fetched
  int64_t fetched_us_ = 0;   // the expected time of fetched jobs
};

}  // namespace galley::worker
