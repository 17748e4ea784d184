// TokenBucket: so many units a second on average (bytes, calls), and at most `burst` of them at
// once after a pause. Sources of time are injected; waiting is the caller's.
//
// Threads: any.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace galley {

class TokenBucket {
 public:
  struct Options {
    double per_second = 0;  // above 0
    double burst = 0;       // above 0; it begins full
  };
  // `clock` outlives it.
  TokenBucket(const Options& options, Clock& clock);

  // Takes `amount`, also when it is not there yet, and answers how long to wait before it is used:
  // for one's own work. An amount larger than the burst waits longer, and so do those after it.
  absl::Duration Take(uint64_t amount);

 private:
  void Refill() GALLEY_REQUIRES(mutex_);
  absl::Duration Until(double tokens) const GALLEY_REQUIRES(mutex_);

  const Options options_;
  Clock& clock_;
  mutable base::Mutex mutex_;
  absl::Time filled_ GALLEY_GUARDED_BY(mutex_);
  double tokens_ GALLEY_GUARDED_BY(mutex_);  // below 0: taken ahead
};

}  // namespace galley
