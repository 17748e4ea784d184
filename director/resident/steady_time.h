// SteadyTime: wall time, for leases, which neither goes back nor stands still where the clock is
// set back.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <utility>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace galley::director {

class SteadyTime {
 public:
  // `clock` outlives this object.
  explicit SteadyTime(Clock& clock) : clock_(clock) {}

  absl::Time Now() {
    base::MutexLock lock(mutex_);
    const absl::Time monotonic = clock_.Monotonic();
    const absl::Duration passed = monotonic - std::exchange(last_monotonic_, monotonic);
    last_now_ = std::max(last_now_ + passed, clock_.Now());
    return last_now_;
  }

 private:
  Clock& clock_;
  base::Mutex mutex_;
  absl::Time last_now_ GALLEY_GUARDED_BY(mutex_) = absl::InfinitePast();
  absl::Time last_monotonic_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
