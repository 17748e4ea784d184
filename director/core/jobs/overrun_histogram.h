// OverrunHistogram: by how much attempts outlast what was expected of them, as a histogram of the
// ratio.
//
// Says from when on a job that still runs is a straggler. Jobs below 100 ms tell nothing: there the
// way to the worker and back is most of it.
//
// Cost: O(1), a few dozen counts.
// Threads: none; owned by the core.
#pragma once

#include <array>
#include <cstdint>

#include "absl/time/time.h"

namespace galley::director {

class OverrunHistogram {
 public:
  // An attempt ran so long from its begin to its end, in the core's waking time.
  void Measured(absl::Duration expected, absl::Duration ran);
  // The time in which nineteen of twenty jobs of that expected time end, and at least one and a
  // half times the expected time. A job that runs for longer than that has more left than another
  // run would take (how much is left grows with what has passed when costs have long tails). Four
  // times the expected time before enough was measured.
  absl::Duration Limit(absl::Duration expected) const;
  // The time that hardly any job takes, one of two hundred; a quarter more than the limit at least.
  absl::Duration FarLimit(absl::Duration expected) const;
  // What half of the attempts stay below, of what was expected of them; infinite before a few were
  // measured: then nobody can be told from the others.
  double Usual() const;
  // Jobs below this tell nothing.
  static constexpr absl::Duration kTellsSomething = absl::Milliseconds(100);

 private:
  double Quantile(double share) const;

  static constexpr int kClasses = 24;  // by factors of the square root of 2, from 1/16 on
  std::array<uint64_t, kClasses> counts_{};
  uint64_t total_ = 0;
};

}  // namespace galley::director
