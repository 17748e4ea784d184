// PendingWatch: whether a job only waits for programs that its executor started, such as a remote
// build. Then its slot may begin other work.
//
// A job begins to wait if there are programs, if the programs and the executor together used less
// than a quarter of a processor since the last look, and if no thread of theirs is runnable or
// waits for the disk: on a busy machine a runnable thread may get no processor. The job goes on
// when the processes use more than half of a processor, when a thread wants more at two looks in a
// row, when all programs have ended, or when the executor speaks. Looks are kPeriod apart, with
// back-off while the job waits. Pure.
// Threads: one owner.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "common/base/child_process.h"

namespace galley::worker {

class PendingWatch {
 public:
  static constexpr absl::Duration kPeriod = absl::Milliseconds(100);
  // The back-off doubles the period up to this limit.
  static constexpr absl::Duration kPeriodMax = absl::Seconds(1);

  bool IsDue(absl::Time now) const { return now >= next_look_; }
  // The job is not pending from now on, and can be pending again after two more looks at the
  // earliest. True: the job was pending.
  bool EndWait();
  // True: is_pending() changed.
  bool Look(absl::Time now, const ProcessorUse& use);
  bool is_pending() const { return is_pending_; }

 private:
  bool is_pending_ = false;
  bool has_looked_ = false;  // saw programs; the next three are of the last look
  absl::Time looked_at_;
  absl::Duration time_;  // processor time
  bool wanted_more_ = false;
  absl::Duration period_ = kPeriod;
  absl::Time next_look_ = absl::InfinitePast();
};

}  // namespace galley::worker
