// Collection: when an executor gives memory back, and when it is replaced, always between two jobs.
//
//   soft limit      soft collection: what is kept warm is dropped. Not again before it grew by a
//                   quarter of the limit, so that a large working set is not dropped after each job
//   hard limit      full collection; when that did not help, the executor is replaced
//   package count   full collection: heaps that were cut up by thousands of jobs
//   idle            full collection, once, of an executor for which there was no work for a while
//
// Where limits are small, an executor may be above the hard one after its first job, and a new one
// would be, too: to collect and replace it after each job would take all the time there is. So what
// young executors still hold after a full collection is learnt, from two of them; the hard limit
// counts from a quarter above that.
//
// A job's own limit lowers the first two for the time before it: what earlier jobs left must not
// count against it. (A job that outgrows its limit while it runs is another matter: see
// executor_slot.h.) The rules are those of a cook's garbage collection in Unreal
// (ECookOnTheSideResult: RequiresGC_Soft_OOM, _OOM, _PackageCount, _IdleTimer). Pure.
// Threads: one owner.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/time/time.h"

namespace galley::worker {

enum class CollectReason : uint8_t { kSoftLimit, kHardLimit, kPackageCount, kIdle };
inline constexpr std::array kCollectReasons = {CollectReason::kSoftLimit, CollectReason::kHardLimit,
                                               CollectReason::kPackageCount, CollectReason::kIdle};
std::string_view NameOf(CollectReason reason);  // "soft_limit"

struct CollectionLimits {
  uint64_t soft_bytes = 0;
  uint64_t hard_bytes = 0;
  uint32_t packages_max = 4'096;  // between two full collections
  absl::Duration idle = absl::Seconds(5);
  uint64_t idle_bytes_min = 64 << 20;  // a smaller executor may be idle as it is
};

// The limits of an executor whose jobs may use `memory_bytes`: a quarter, and half.
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
  // A new executor. It has nothing to give back before its first job.
  void Started();
  void JobEnded(absl::Time now);
  // After a step that Next asked for, but kRestart, whom Started follows.
  void Collected(CollectionStep::What what, uint64_t resident_bytes);

  // The step to take before the next job, of which `job_bytes` is the limit; 0: there is none.
  CollectionStep Next(absl::Time now, uint64_t resident_bytes, uint64_t job_bytes) const;
  // True once: executors are above the hard limit from the beginning, and are left so.
  bool TellFloor();
  uint64_t floor_bytes() const { return floor_bytes_; }
  const CollectionLimits& limits() const { return limits_; }
  // When an executor without a job is to be looked at again.
  absl::Time IdleAt() const;

 private:
  // The slot's, from executor to executor.
  CollectionLimits limits_;
  uint64_t floor_bytes_ = 0;  // what the leanest of the young held after a full collection
  uint32_t young_seen_ = 0;   // such collections
  bool has_told_floor_ = false;

  uint64_t jobs_ = 0;             // of this executor
  uint64_t jobs_since_full_ = 0;  // full collection
  uint64_t soft_again_bytes_ = 0;
  bool is_fully_collected_ = false;  // and no job since
  absl::Time job_ended_at_ = absl::InfiniteFuture();
};

}  // namespace galley::worker
