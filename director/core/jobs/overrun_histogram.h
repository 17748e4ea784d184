// OverrunHistogram: by how much attempts outlast their expected time, as a histogram of the ratio.
//
// Says from when on a running job is a straggler. Jobs below 100 ms tell nothing: most of their
// time is the way to the worker and back.
//
// Cost: O(1), a few dozen counts.
// Threads: none; owned by its layer.
#pragma once

#include <array>
#include <cstdint>

#include "absl/time/time.h"

namespace galley::director {

class OverrunHistogram {
 public:
  // An attempt ran for `ran` from its begin to its end, in the core's waking time.
  void Measured(absl::Duration expected, absl::Duration ran);
  // The time in which nineteen of twenty jobs of that expected time end, and at least one and a
  // half times the expected time. A job that runs for longer has more time left than another run
  // would take (the time left grows with the time that has passed when costs have long tails).
  // Before enough jobs were measured: four times the expected time.
  absl::Duration Limit(absl::Duration expected) const;
  // The time that hardly any job takes, one of two hundred; at least a quarter more than the limit.
  absl::Duration FarLimit(absl::Duration expected) const;
  // The median ratio of measured to expected time. Infinite before a few attempts were measured:
  // then no worker can be told from the others.
  double Usual() const;
  // Jobs below this time tell nothing.
  static constexpr absl::Duration kTellsSomething = absl::Milliseconds(100);

 private:
  double Quantile(double share) const;

  static constexpr int kClasses = 24;  // by factors of the square root of 2, from 1/16 on
  std::array<uint64_t, kClasses> counts_{};
  uint64_t total_ = 0;
};

}  // namespace galley::director
