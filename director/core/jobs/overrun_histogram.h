// OverrunHistogram: a histogram of the ratio of the time that attempts took to their expected time.
//
// The histogram decides when a running job is a straggler. Jobs that are expected to take less than
// 100 ms, and do so, are not counted: most of their time is the way to the worker and back.
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
  // An attempt ran for `ran`, from its begin to its end (StepContext::awake).
  void AddMeasurement(absl::Duration expected, absl::Duration ran);
  // The time within which 95% of the jobs of that expected time end; at least 1.5 times the
  // expected time. Costs have long tails, so a job that runs for longer probably has more time left
  // than another run would take. Before enough jobs were measured: four times the expected time.
  absl::Duration Limit(absl::Duration expected) const;
  // The time that only 0.5% of the jobs exceed; at least 1.25 times Limit.
  absl::Duration FarLimit(absl::Duration expected) const;
  // The median ratio. Infinite before a few attempts were measured, so that no worker seems slow.
  double Usual() const;
  // Jobs of less time say nothing.
  static constexpr absl::Duration kTellsSomething = absl::Milliseconds(100);

 private:
  double Quantile(double share) const;

  static constexpr int kClasses = 24;  // by factors of the square root of 2, from 1/16 on
  std::array<uint64_t, kClasses> counts_{};
  uint64_t total_ = 0;
};

}  // namespace galley::director
