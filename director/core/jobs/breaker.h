// Breaker: whether a worker, or a machine, is given jobs.
//
//            three faults in a row                the pause is over
//   closed ------------------------> open, paused ----------------> open, on trial
//     ^                                   ^                              |   |
//     |                                   +------------------------------+   |
//     +--------------------------------------- a success --------------------+
//                                           (a fault: the pause doubles)
//
// A fault is a failure for the machine's sake: the machine's disk is full, a library is missing,
// the worker said what cannot be. On trial one job is given. The next job is given when the trial
// job has ended and said nothing of the machine (the package's own fault, or the job was taken
// back).
//
// A package can do harm that looks like the machine's: a program of the package fills the disk,
// say. So three faults of one package open no breaker where other packages had succeeded before:
// such a package has a limit of its own. In the same way, three faults of one worker say nothing of
// its machine while other workers are there.
//
// Cost: O(1).
// Threads: none; time is an argument, the core's waking time.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "director/core/ids.h"

namespace galley::director {

class Breaker {
 public:
  static constexpr uint32_t kFaultsMax = 3;
  static constexpr absl::Duration kFirstPause = absl::Seconds(2), kLongestPause = absl::Minutes(1);

  struct Fault {
    WorkerId worker;
    PackageId package;     // invalid: any job would have failed there
    bool is_only = false;  // no other worker that the breaker covers is attached
  };

  // True: the breaker was closed, and is open now.
  bool AddFault(const Fault& fault, absl::Duration awake);
  // True: the breaker was open, and is closed now. A success during a pause is of a job from before
  // the pause, and changes nothing.
  bool AddSuccess(absl::Duration awake);
  // Opens the breaker whatever was counted. True: as AddFault.
  bool Open(absl::Duration awake);
  // The pause ends now, and the next one is the first again.
  void EndPause(absl::Duration awake);
  // A job was given to the worker or machine; a job there ended. True: MayTake may have changed.
  bool NoteGiven(AttemptId attempt);
  bool NoteEnded(AttemptId attempt);

  bool is_open() const { return is_open_; }  // paused or on trial
  // The last job that told anything of the worker or machine failed for its sake.
  bool has_faults() const { return faults_ > 0; }
  // The breaker is open, or would be open after more faults of the same kind.
  bool is_bad() const {
    return is_open_ || (faults_ > 0 && (are_of_several_packages_ || !has_succeeded_));
  }
  absl::Duration paused_until() const { return paused_until_; }
  bool MayTake(absl::Duration awake) const {
    return !is_open_ || (trial_ == 0 && awake >= paused_until_);
  }

 private:
  bool is_open_ = false;
  bool has_succeeded_ = false;
  uint32_t faults_ = 0;  // in a row
  WorkerId worker_;      // of the first of these faults
  PackageId package_;    // of the first of these faults
  bool are_of_several_workers_ = false, are_of_several_packages_ = false;
  absl::Duration pause_ = kFirstPause;
  absl::Duration paused_until_;
  AttemptId trial_ = 0;  // 0: none
};

}  // namespace galley::director
