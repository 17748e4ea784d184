// Pace: how much longer jobs take at one worker than expected.
//
// The pace is a moving mean of the logarithms of the ratios: one job that takes ten times as long
// says little, three such jobs say much. The pace is compared with OverrunHistogram::Usual, since
// expected times may come from faster machines.
//
// Cost: O(1).
// Threads: none; owned by a Worker.
#pragma once

#include "absl/time/time.h"

namespace galley::director {

class Pace {
 public:
  // An attempt at the worker took `ran`.
  void AddMeasurement(absl::Duration expected, absl::Duration ran);
  // Another worker did the job in `took`, while this worker had not done it after `ran`.
  void AddOutrun(absl::Duration took, absl::Duration ran);
  // 1: jobs take as long as expected, or nothing was measured.
  double Factor() const;

 private:
  double log_ = 0;
};

}  // namespace galley::director
