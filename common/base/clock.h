// Clock: the source of time for shells; tests inject their own. Leases and waits use Monotonic
// only.
#pragma once

#include <ctime>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace galley {

class Clock {
 public:
  virtual ~Clock() = default;
  // Wall time, for provenance and logs. May jump.
  virtual absl::Time Now() = 0;
  // Time since an arbitrary start; never goes back. A Time, so that the core has one type of time.
  virtual absl::Time Monotonic() = 0;
};

class SystemClock final : public Clock {
 public:
  absl::Time Now() override { return absl::Now(); }
  absl::Time Monotonic() override {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return absl::TimeFromTimespec(now);
  }
};

}  // namespace galley
