// TokenBucket: limits a rate to `per_second` units, such as bytes or calls, on average, and to
// `burst` at once after a pause. The clock is injected; the caller waits.
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
    double burst = 0;       // above 0; the bucket begins full
  };
  // `clock` outlives the TokenBucket.
  TokenBucket(const Options& options, Clock& clock);

  // Takes `amount`, in advance if need be, and returns how long the caller must wait before using
  // `amount`. An amount above the burst waits longer, and so do the amounts after it.
  absl::Duration Take(uint64_t amount);

 private:
  void Refill() GALLEY_REQUIRES(mutex_);
  absl::Duration Until(double tokens) const GALLEY_REQUIRES(mutex_);

  const Options options_;
  Clock& clock_;
  mutable base::Mutex mutex_;
  absl::Time filled_ GALLEY_GUARDED_BY(mutex_);
  double tokens_ GALLEY_GUARDED_BY(mutex_);  // below 0: taken in advance
};

}  // namespace galley
