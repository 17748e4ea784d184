// PendingWatch: whether a job only waits for programs that its executor started (a remote build, a
// licence, a device): then its slot may go on with other work.
//
// It waits while there are programs, all of them and the executor together used less than a quarter
// of a processor since the look before, and no thread of theirs wanted more (on a busy machine one
// that gets no processor waits for nothing else). It goes on when they use more than half of one,
// want more at two looks in a row, have all ended, or the executor speaks. In between it stays as
// it is. Looks are kPeriod apart, while it waits with back-off. Pure.
// Threads: one owner.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "common/base/child_process.h"

namespace galley::worker {

class PendingWatch {
 public:
  static constexpr absl::Duration kPeriod = absl::Milliseconds(100);
  static constexpr absl::Duration kPeriodMax = absl::Seconds(1);  // doubled up to this

  // Another job runs, or none.
  void Begin() { *this = PendingWatch(); }
  bool IsDue(absl::Time now) const { return now >= next_look_; }
  // The job does not wait before two more looks. True: it did.
  bool Spoke();
  // True: is_pending() changed.
  bool Look(absl::Time now, const ProcessorUse& use);
  bool is_pending() const { return is_pending_; }

 private:
  bool is_pending_ = false;
  bool has_looked_ = false;  // there were programs; the next three are of then
  absl::Time looked_at_;
  absl::Duration time_;  // processor time
  bool wanted_more_ = false;
  absl::Duration period_ = kPeriod;
  absl::Time next_look_ = absl::InfinitePast();
};

}  // namespace galley::worker
