// JobWatch: watches a job while it runs: how much of its time it has used (job_time.h), the memory
// of the programs that it started, and whether it only waits for them (pending_watch.h).
//
// Reads /proc. Threads: one owner.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "absl/time/time.h"
#include "worker/session/job_time.h"
#include "worker/session/pending_watch.h"

namespace galley::worker {

class JobWatch {
 public:
  // How long after kUp a job may still run, to end its programs.
  static constexpr absl::Duration kEndGrace = absl::Seconds(2);

  JobWatch() = default;  // no job runs
  JobWatch(absl::Time now, absl::Duration timeout, bool starts_programs)
      : starts_programs_(starts_programs) {
    time_.Begin(now, timeout);
  }

  // Does not count `passed` as the job's time: the job had to wait for the session.
  void LeaveOut(absl::Duration passed) { time_.LeaveOut(passed); }
  enum class TimeLook {
    kLeft,
    kUp,    // returned once, if the job starts programs: the job may end them and keep their output
    kOver,  // the session must end the job now
  };
  // `pid`: the job's executor.
  TimeLook LookAtTime(absl::Time now, pid_t pid);
  // The result of the last look.
  TimeUp time_up() const { return time_.up(); }

  // True: is_pending() changed.
  bool LookAtPrograms(absl::Time now, pid_t pid);
  // The job is not pending from now on, and can be pending again after two more looks at the
  // earliest. True: the job was pending.
  bool EndWait() { return pending_.EndWait(); }
  bool is_pending() const { return pending_.is_pending(); }
  // Resident bytes at the last look.
  uint64_t programs_bytes() const { return programs_bytes_; }

 private:
  bool starts_programs_ = false;
  JobTime time_;
  absl::Time killed_at_ = absl::InfiniteFuture();  // set when kUp was returned
  uint64_t programs_bytes_ = 0;
  PendingWatch pending_;
};

}  // namespace galley::worker
