// Pace: how much longer jobs take at one worker than expected.
//
// The pace is a moving mean of the logarithms of the ratios, so that one job of an unknown cost
// that takes ten times as long says little, and three such jobs say much. The pace is compared with
// the usual ratio of the farm (OverrunHistogram::Usual): costs may be known from faster machines.
//
// Cost: O(1).
// Threads: none; owned by a Worker.
#pragma once

#include "absl/time/time.h"

namespace galley::director {

class Pace {
 public:
  // An attempt at the worker took `ran`.
  void Measured(absl::Duration expected, absl::Duration ran);
  // Another worker did the job in `took`, and this worker had not done the job after `ran`.
  void Outrun(absl::Duration took, absl::Duration ran);
  // 1: jobs take as long as expected, or nothing was measured.
  double Factor() const;

 private:
  double log_ = 0;
};

}  // namespace galley::director
