// ReconnectPacing: the time that a session waits before it tries to reach a director again: 50 ms,
// doubling to 1 s while nobody answers. The wait is drawn between half and all of this time, so
// that the workers of a dead director do not reach the next director all at once.
//
// Pure: the same seed gives the same waits. SessionCore decides how long the session tries at all.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <random>

#include "absl/time/time.h"

namespace galley::worker {

class ReconnectPacing {
 public:
  static constexpr absl::Duration kMin = absl::Milliseconds(50);
  static constexpr absl::Duration kMax = absl::Seconds(1);

  explicit ReconnectPacing(uint64_t seed) : random_(seed) {}

  static constexpr absl::Duration kToldMax = absl::Seconds(60);

  // A stream ended; returns the wait. `was_answered`: a message came on the stream. `told`: the
  // time for which the director says it takes nobody; at most kToldMax of it is added to the wait.
  absl::Duration Next(bool was_answered, absl::Duration told = absl::ZeroDuration());

 private:
  std::mt19937_64 random_;
  absl::Duration wait_ = kMin;
};

}  // namespace galley::worker
