#include "worker/session/collection.h"

#include <algorithm>

namespace galley::worker {

using What = CollectionStep::What;

namespace {

constexpr uint64_t kYoungJobsMax = 8;  // jobs in the life of a young executor
constexpr uint32_t kYoungSeenMin = 2;

}  // namespace

std::string_view NameOf(CollectReason reason) {
  switch (reason) {
    case CollectReason::kSoftLimit:
      return "soft_limit";
    case CollectReason::kHardLimit:
      return "hard_limit";
    case CollectReason::kPackageCount:
      return "package_count";
    case CollectReason::kIdle:
      return "idle";
  }
  return "";
}

CollectionLimits LimitsFor(uint64_t memory_bytes) {
  return {.soft_bytes = memory_bytes / 4, .hard_bytes = memory_bytes / 2};
}

void Collection::Started() {
  Collection next(limits_);
  next.floor_bytes_ = floor_bytes_;
  next.young_seen_ = young_seen_;
  next.has_told_floor_ = has_told_floor_;
  *this = next;
}

void Collection::JobEnded(absl::Time now) {
  ++jobs_;
  ++jobs_since_full_;
  is_fully_collected_ = false;
  job_ended_at_ = now;
}

void Collection::Collected(What what, uint64_t resident_bytes) {
  soft_again_bytes_ = resident_bytes + limits_.soft_bytes / 4;
  if (what != What::kFull) return;
  jobs_since_full_ = 0;
  is_fully_collected_ = true;
  if (jobs_ > kYoungJobsMax) return;
  floor_bytes_ = young_seen_ == 0 ? resident_bytes : std::min(floor_bytes_, resident_bytes);
  young_seen_ = std::min(young_seen_ + 1, kYoungSeenMin);
}

bool Collection::TellFloor() {
  if (has_told_floor_ || young_seen_ < kYoungSeenMin || floor_bytes_ <= limits_.hard_bytes)
    return false;
  return has_told_floor_ = true;
}

CollectionStep Collection::Next(absl::Time now, uint64_t resident_bytes, uint64_t job_bytes) const {
  if (jobs_ == 0) return {};
  const bool has_job = job_bytes > 0;
  uint64_t hard = has_job ? std::min(limits_.hard_bytes, job_bytes / 2) : limits_.hard_bytes;
  if (young_seen_ >= kYoungSeenMin) hard = std::max(hard, floor_bytes_ + floor_bytes_ / 4);
  const uint64_t soft = has_job ? std::min(limits_.soft_bytes, job_bytes / 4) : limits_.soft_bytes;
  if (resident_bytes > hard) {
    return {is_fully_collected_ ? What::kRestart : What::kFull, CollectReason::kHardLimit};
  }
  if (jobs_since_full_ >= limits_.packages_max) return {What::kFull, CollectReason::kPackageCount};
  if (resident_bytes > std::max(soft, soft_again_bytes_))
    return {What::kSoft, CollectReason::kSoftLimit};
  if (!has_job && now >= IdleAt() && resident_bytes >= limits_.idle_bytes_min)
    return {What::kFull, CollectReason::kIdle};
  return {};
}

absl::Time Collection::IdleAt() const {
  if (jobs_ == 0 || is_fully_collected_) return absl::InfiniteFuture();
  return job_ended_at_ + limits_.idle;
}

}  // namespace galley::worker
