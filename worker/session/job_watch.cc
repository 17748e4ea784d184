#include "worker/session/job_watch.h"

#include "common/base/child_process.h"

namespace galley::worker {

JobWatch::TimeLook JobWatch::LookAtTime(absl::Time now, pid_t pid) {
  if (!time_.IsDue(now) || time_.Look(now, ProcessorUseOf(pid)) == TimeUp::kNo)
    return TimeLook::kLeft;
  if (!starts_programs_ || now > killed_at_) return TimeLook::kOver;
  if (killed_at_ != absl::InfiniteFuture()) return TimeLook::kLeft;
  killed_at_ = now + kEndGrace;
  return TimeLook::kUp;
}

// A pending job's memory and time are still watched: a program that goes on may outgrow its memory
// before the watch sees it work.
bool JobWatch::LookAtPrograms(absl::Time now, pid_t pid) {
  if (!starts_programs_) return false;
  programs_bytes_ = ResidentBytesBelow(pid);
  const bool has_programs = programs_bytes_ > 0;  // programs that have ended hold no memory
  if (has_programs ? !pending_.IsDue(now) : !is_pending()) return false;
  return pending_.Look(now, has_programs ? ProcessorUseOf(pid) : ProcessorUse());
}

}  // namespace galley::worker
