// JobTime: how much of its time a job has used, and when that is up.
//
// A job's time is processor time: that of its executor and of the programs below it, never more
// than what passed by the clock. So a machine that is busy takes nothing from a job, and a job of
// many threads has no less time than one of a single thread. A job that waits uses no processor and
// must end, too: once its time has passed by the clock, each moment counts in which it used next to
// none and wanted none. What wants the processor or the disk and does not get it ends when
// kClockFactor times its time has passed, and kClockMin at least.
//
// The first look is for what was used before; looks at short jobs cost nothing. Pure.
// Threads: one owner.
#pragma once

#include <algorithm>

#include "absl/time/time.h"
#include "common/base/child_process.h"

namespace galley::worker {

enum class TimeUp {
  kNo,
  kProcessor,  // it used it
  kWaiting,    // it used it and waited
  kClock,      // it did not get it
};

class JobTime {
 public:
  static constexpr int kClockFactor = 10;
  static constexpr absl::Duration kClockMin = absl::Minutes(10);
  static constexpr absl::Duration kFirstLook = absl::Milliseconds(100);
  static constexpr absl::Duration kPeriod = absl::Milliseconds(100);

  void Begin(absl::Time now, absl::Duration limit);
  // Leaves out time that passed by no doing of the job.
  void LeaveOut(absl::Duration passed) {
    begun_ += passed;
    looked_at_ += passed;
  }
  bool IsDue(absl::Time now) const { return now >= next_look_; }
  // `use`: of the executor and what is below it. Once the time is up it stays so, for that reason.
  TimeUp Look(absl::Time now, const ProcessorUse& use);
  // At the last look.
  TimeUp up() const { return up_; }
  static absl::Duration ClockMax(absl::Duration limit) {
    return std::max(kClockFactor * limit, kClockMin);
  }

 private:
  absl::Time begun_;
  absl::Duration limit_ = absl::InfiniteDuration();
  absl::Time next_look_ = absl::InfiniteFuture();
  bool has_looked_ = false;
  bool is_watched_ = false;     // its time has passed by the clock
  absl::Duration used_before_;  // by the executor, for other jobs
  absl::Time looked_at_;
  absl::Duration used_;  // then
  absl::Duration waited_;
  TimeUp up_ = TimeUp::kNo;
};

}  // namespace galley::worker
