// Collection: decides when an executor gives memory back, and when it is replaced, always between
// two jobs.
//
//   soft limit      soft collection: drops what is kept warm. Not again before the executor grew by
//                   a quarter of the limit, so that a large working set is not dropped after each
//                   job
//   hard limit      full collection; if that did not help, the executor is replaced
//   package count   full collection, against heap fragmentation by thousands of jobs
//   idle            full collection, once, if the executor had no work for a while
//
// If limits are small, every new executor may be above the hard limit after its first job, and
// would be collected and replaced after each job. So the rules learn the floor from two young
// executors: the bytes that they still hold after a full collection. The hard limit is at least a
// quarter above the floor.
//
// Before a job, the job's own limit lowers the soft and the hard limit, because memory that earlier
// jobs left must not count against the job. For a job that outgrows its limit while it runs, see
// executor_slot.h. The rules are those of a cook's garbage collection in Unreal
// (ECookOnTheSideResult: RequiresGC_Soft_OOM, _OOM, _PackageCount, _IdleTimer). Pure.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/time/time.h"

namespace galley::worker {

enum class CollectReason : uint8_t { kSoftLimit, kHardLimit, kPackageCount, kIdle };
std::string_view NameOf(CollectReason reason);  // "soft_limit"

struct CollectionLimits {
  uint64_t soft_bytes = 0;
  uint64_t hard_bytes = 0;
  uint32_t packages_max = 4'096;  // between two full collections
  absl::Duration idle = absl::Seconds(5);
  uint64_t idle_bytes_min = 64 << 20;  // a smaller executor is left as it is
};

// The limits of an executor whose jobs may use `memory_bytes`: a quarter (soft), and half (hard).
CollectionLimits LimitsFor(uint64_t memory_bytes);

struct CollectionStep {
  enum class What : uint8_t { kNothing, kSoft, kFull, kRestart };
  What what = What::kNothing;
  CollectReason reason = CollectReason::kSoftLimit;

  bool operator==(const CollectionStep&) const = default;
};

class Collection {
 public:
  explicit Collection(const CollectionLimits& limits = LimitsFor(uint64_t{4} << 30))
      : limits_(limits) {}

  void set_limits(const CollectionLimits& limits) { limits_ = limits; }
  // An executor was started. No step is due before its first job.
  void Started();
  void JobEnded(absl::Time now);
  // A soft or full collection was done. After kRestart, Started is called instead.
  void Collected(CollectionStep::What what, uint64_t resident_bytes);

  // The step to take before the next job. `job_bytes`: the job's limit; 0: there is no next job.
  CollectionStep Next(absl::Time now, uint64_t resident_bytes, uint64_t job_bytes) const;
  // True once: when the floor turns out to be above the hard limit, so that executors stay above
  // it.
  bool TellFloor();
  uint64_t floor_bytes() const { return floor_bytes_; }
  const CollectionLimits& limits() const { return limits_; }
  // The time when an executor without a job is to be looked at again.
  absl::Time IdleAt() const;

 private:
  // Facts about the slot, which Started keeps.
  CollectionLimits limits_;
  uint64_t floor_bytes_ = 0;  // the least that a young executor held after a full collection
  uint32_t young_seen_ = 0;   // full collections of young executors, up to kYoungSeenMin
  bool has_told_floor_ = false;

  uint64_t jobs_ = 0;             // jobs of this executor
  uint64_t jobs_since_full_ = 0;  // jobs since the last full collection
  uint64_t soft_again_bytes_ = 0;
  bool is_fully_collected_ = false;  // no job since a full collection
  absl::Time job_ended_at_ = absl::InfiniteFuture();
};

}  // namespace galley::worker
