// JobTime: how much of its time a job has used, and when the time is up.
//
// A job is not judged before its limit has passed by the clock. Then the processor time of the
// executor and of the programs below it counts. So a busy machine takes nothing from a job, and a
// job of many threads has no less time than a job of a single thread. A waiting job must end, too:
// from then on, time in which the job used less than a quarter of a processor and wanted no more
// counts as well. A job that wants the processor or the disk and does not get it ends after
// kClockFactor times its limit by the clock, or after kClockMin if that is longer.
//
// The first look measures what was used before the job; shorter jobs are not looked at. Pure.
// Threads: one owner.
#pragma once

#include <algorithm>

#include "absl/time/time.h"
#include "common/base/child_process.h"

namespace galley::worker {

enum class TimeUp {
  kNo,
  kProcessor,  // the job used its time
  kWaiting,    // the time that the job used and the time that it waited add up to its time
  kClock,      // the job did not get its time
};

class JobTime {
 public:
  static constexpr int kClockFactor = 10;
  static constexpr absl::Duration kClockMin = absl::Minutes(10);
  static constexpr absl::Duration kFirstLook = absl::Milliseconds(100);
  static constexpr absl::Duration kPeriod = absl::Milliseconds(100);

  void Begin(absl::Time now, absl::Duration limit);
  // Does not count `passed` as the job's time: the job had to wait for the session.
  void LeaveOut(absl::Duration passed) {
    begun_ += passed;
    looked_at_ += passed;
  }
  bool IsDue(absl::Time now) const { return now >= next_look_; }
  // `use`: by the executor and the processes below it. Once the time is up, the reason stays.
  TimeUp Look(absl::Time now, const ProcessorUse& use);
  // The result of the last look.
  TimeUp up() const { return up_; }
  static absl::Duration ClockMax(absl::Duration limit) {
    return std::max(kClockFactor * limit, kClockMin);
  }

 private:
  absl::Time begun_;
  absl::Duration limit_ = absl::InfiniteDuration();
  absl::Time next_look_ = absl::InfiniteFuture();
  bool has_looked_ = false;
  bool is_watched_ = false;     // the job's time has passed by the clock
  absl::Duration used_before_;  // by the executor, for earlier jobs
  absl::Time looked_at_;
  absl::Duration used_;  // at the last look
  absl::Duration waited_;
  TimeUp up_ = TimeUp::kNo;
};

}  // namespace galley::worker
