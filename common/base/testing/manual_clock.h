// A clock that tests move by hand.
#pragma once

#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace galley {

class ManualClock final : public Clock {
 public:
  absl::Time Now() override { return Monotonic(); }
  absl::Time Monotonic() override {
    const base::MutexLock lock(mutex_);
    return now_;
  }
  void Advance(absl::Duration time) {
    const base::MutexLock lock(mutex_);
    now_ += time;
  }

 private:
  base::Mutex mutex_;
  absl::Time now_ GALLEY_GUARDED_BY(mutex_) = absl::FromUnixSeconds(1'700'000'000);
};

}  // namespace galley
