#include "worker/session/job_time.h"

#include <algorithm>
#include <utility>

namespace galley::worker {

void JobTime::Begin(absl::Time now, absl::Duration limit) {
  *this = JobTime();
  begun_ = now;
  limit_ = limit;
  next_look_ = now + kFirstLook;
}

TimeUp JobTime::Look(absl::Time now, const ProcessorUse& use) {
  if (up_ != TimeUp::kNo) {  // the job is being ended
    next_look_ = now + kPeriod;
    return up_;
  }
  if (!std::exchange(has_looked_, true)) used_before_ = use.time;
  const absl::Duration used = std::max(use.time - used_before_, absl::ZeroDuration());
  const bool has_passed = now - begun_ >= limit_;
  if (has_passed && std::exchange(is_watched_, true)) {
    const absl::Duration passed = now - looked_at_;
    const absl::Duration more = used - used_;
    if (!use.wants_more && more < passed / 4)
      waited_ += passed - std::max(more, absl::ZeroDuration());
  }
  looked_at_ = now;
  used_ = used;
  next_look_ = has_passed ? now + kPeriod : begun_ + limit_;
  if (!has_passed) return up_;
  if (used >= limit_) {
    up_ = TimeUp::kProcessor;
  } else if (used + waited_ >= limit_) {
    up_ = TimeUp::kWaiting;
  } else if (now - begun_ >= ClockMax(limit_)) {
    up_ = TimeUp::kClock;
  }
  return up_;
}

}  // namespace galley::worker
