// ClockOffsets: converts times of a worker's clock to the director's clock.
//
// A message holds the time of the worker's clock when it was sent. The offset is the least
// difference between arrival and sending in the last kWindow to 2 kWindow. So a converted time is
// late by the least latency of a message, usually far below a millisecond in a studio's network,
// and never early: no job begins before it was given. When a worker's clock is set, the offset
// follows after 2 kWindow, or at once if the clock was set forward.
//
// Workers of this machine use the director's clock. Whatever a worker sends, a converted time is
// never later than now.
// Threads: any.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace galley::director {

class ClockOffsets {
 public:
  static constexpr absl::Duration kWindow = absl::Minutes(5);

  void Heard(const std::string& worker, absl::Time sent, absl::Time received) {
    const absl::Duration offset = received - sent;
    base::MutexLock lock(mutex_);
    Clock& clock = clocks_.try_emplace(worker, Clock{.since = received}).first->second;
    if (received - clock.since >= kWindow) {
      clock.before = clock.least;
      clock.least.reset();
      clock.since = received;
    }
    clock.least = std::min(clock.least.value_or(offset), offset);
  }
  void Forget(std::string_view worker) {
    base::MutexLock lock(mutex_);
    if (const auto found = clocks_.find(worker); found != clocks_.end()) clocks_.erase(found);
  }
  // Converts `time` of the worker's clock. If no message of the worker was heard, `time` stays the
  // same.
  absl::Time ToOurs(std::string_view worker, absl::Time time, absl::Time now) const {
    base::MutexLock lock(mutex_);
    const auto found = clocks_.find(worker);
    if (found == clocks_.end()) return std::min(time, now);
    const Clock& clock = found->second;
    const absl::Duration least = clock.least.value_or(absl::InfiniteDuration());
    return std::min(time + std::min(least, clock.before.value_or(least)), now);
  }

 private:
  struct Clock {
    absl::Time since;  // when `least` began
    std::optional<absl::Duration> least, before;
  };
  mutable base::Mutex mutex_;
  std::map<std::string, Clock, std::less<>> clocks_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
