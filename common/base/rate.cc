#include "common/base/rate.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace galley {

TokenBucket::TokenBucket(const Options& options, Clock& clock)
    : options_(options), clock_(clock), filled_(clock.Monotonic()), tokens_(options.burst) {
  GALLEY_CHECK(options.per_second > 0 && options.burst > 0);
}

void TokenBucket::Refill() {
  const absl::Time now = clock_.Monotonic();
  tokens_ = std::min(options_.burst,
                     tokens_ + absl::ToDoubleSeconds(now - filled_) * options_.per_second);
  filled_ = now;
}

absl::Duration TokenBucket::Until(double tokens) const {
  if (tokens_ >= tokens) return absl::ZeroDuration();
  // Rounded up, so that who waits as long finds it there.
  return absl::Ceil(absl::Seconds((tokens - tokens_) / options_.per_second), absl::Microseconds(1));
}

absl::Duration TokenBucket::Take(uint64_t amount) {
  const base::MutexLock lock(mutex_);
  Refill();
  tokens_ -= static_cast<double>(amount);
  return Until(0);
}

}  // namespace galley
