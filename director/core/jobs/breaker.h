// Breaker: decides whether a worker, or a machine, gets jobs.
//
//            three faults in a row                the pause is over
//   closed ------------------------> open, paused ----------------> open, on trial
//     ^                                   ^                              |   |
//     |                                   +------------------------------+   |
//     +--------------------------------------- a success --------------------+
//                                           (a fault: the pause doubles)
//
// A fault is a failure that the machine or the worker caused: the disk is full, a library is
// missing, or the worker broke the protocol. On trial, the worker gets one job. If that job ends
// without a fault of the machine or a success, for example because it was taken back, the next job
// is the trial.
//
// A package can do harm that looks like the machine's fault, for example fill the disk. So three
// faults of one package do not open the breaker where any job succeeded before; RetryPolicy limits
// such a package. Likewise, three faults of one worker say nothing of its machine while other
// workers are attached there.
//
// Cost: O(1).
// Threads: none. Times are StepContext::awake.
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
    PackageId package;     // invalid: any package would have failed there
    bool is_only = false;  // no other worker that the breaker covers is attached
  };

  // True: the breaker has just opened.
  bool AddFault(const Fault& fault, absl::Duration awake);
  // True: the breaker has just closed. A success during a pause is of an older job, and does not
  // close the breaker.
  bool AddSuccess(absl::Duration awake);
  // Opens the breaker whatever was counted. True: as AddFault.
  bool Open(absl::Duration awake);
  // The pause ends now, and the next one is the first again.
  void EndPause(absl::Duration awake);
  // A job was given to the worker or machine; a job there ended. True: MayTake may have changed.
  bool NoteGiven(AttemptId attempt);
  bool NoteEnded(AttemptId attempt);

  bool is_open() const { return is_open_; }  // paused or on trial
  // The last job that said anything of the worker or machine was a fault.
  bool has_faults() const { return faults_ > 0; }
  // The breaker is open, or would open after more such faults.
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
