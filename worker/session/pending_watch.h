// PendingWatch: whether a job only waits for programs that its executor started (a remote build, a
// licence, a device): then its slot may begin other work.
//
// The job waits if there are programs, if all of them and the executor together used less than a
// quarter of a processor since the look before, and if no thread of theirs wanted more: on a busy
// machine a thread without a processor does not wait for anything else. The job goes on when they
// use more than half of a processor, want more at two looks in a row, have all ended, or when the
// executor speaks. In between nothing changes. Looks are kPeriod apart, with back-off while the job
// waits. Pure.
// Threads: one owner.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "common/base/child_process.h"

namespace galley::worker {

class PendingWatch {
 public:
  static constexpr absl::Duration kPeriod = absl::Milliseconds(100);
  // The limit of the back-off, which doubles kPeriod.
  static constexpr absl::Duration kPeriodMax = absl::Seconds(1);

  bool IsDue(absl::Time now) const { return now >= next_look_; }
  // The executor spoke: the job does not wait before two more looks. True: it did wait.
  bool Spoke();
  // Looks. True: is_pending() changed.
  bool Look(absl::Time now, const ProcessorUse& use);
  bool is_pending() const { return is_pending_; }

 private:
  bool is_pending_ = false;
  bool has_looked_ = false;  // there were programs; the next three are of that look
  absl::Time looked_at_;
  absl::Duration time_;  // processor time
  bool wanted_more_ = false;
  absl::Duration period_ = kPeriod;
  absl::Time next_look_ = absl::InfinitePast();
};

}  // namespace galley::worker
