// Expectations of a worker's slots: when a job would begin there, whether it fits, and which spare
// attempts are in the way of the other jobs.
//
// `limit_bytes`: the worker's memory; 0: unknown. `awake`: the present time, as in AssignedJobs.
// A job that has outlasted its expected time is assumed to run as long again.
//
// Cost: O(assigned jobs). Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/jobs/assigned_jobs.h"

namespace galley::director {

// The number of waiting jobs of at least this urgency.
size_t CountWaiting(const AssignedJobs& jobs, Urgency urgency);

// Guesses of the time until a job begins; infinite: no running job will free a slot. BlockingDelay:
// for a new Blocking job. DelayOfNew: for any other new job. DelayOf: for an assigned attempt;
// zero: it has begun. NextSlot: for a new job that is more urgent than all waiting jobs.
absl::Duration BlockingDelay(const AssignedJobs& jobs, absl::Duration awake);
absl::Duration DelayOfNew(const AssignedJobs& jobs, absl::Duration awake);
absl::Duration DelayOf(const AssignedJobs& jobs, AttemptId attempt, absl::Duration awake);
absl::Duration NextSlot(const AssignedJobs& jobs, absl::Duration awake);

// True: a job of `memory_bytes` fits into `limit_bytes` beside the largest jobs that may run in the
// other slots or be pending. Always true if no job is assigned, or if the limit or the job's memory
// is unknown (0).
bool HasMemoryFor(const AssignedJobs& jobs, uint64_t memory_bytes, uint64_t limit_bytes);
// HasMemoryFor beside the pending jobs alone.
bool HasMemoryBesidePending(const AssignedJobs& jobs, uint64_t memory_bytes, uint64_t limit_bytes);

// The spare attempts that must end so that the other jobs have their slots and their memory, the
// last ones first.
std::vector<AttemptId> InTheWay(const AssignedJobs& jobs, uint64_t limit_bytes);
// True: a free slot is there, but only for a job that ends a spare one.
bool IsEachFreeSlotSpare(const AssignedJobs& jobs);
// True: a slot is really free, no job waits, and a spare job of `memory_bytes` fits beside all jobs
// here.
bool HasRoomForSpare(const AssignedJobs& jobs, uint64_t memory_bytes, uint64_t limit_bytes);

}  // namespace galley::director
