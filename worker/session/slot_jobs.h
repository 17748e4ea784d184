// SlotJobs: the jobs of a slot, in order: the running job, jobs that were sent ahead to the
// executor, jobs that wait to be sent.
//
// Pure. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "galley/v1/executor.pb.h"
#include "worker/session/job_targets.h"

namespace galley::worker {

struct SlotJob {
  v1::ExecutorJob message;
  size_t lines = 0;  // printed while the job ran
  size_t message_bytes = 0;
  // Sent while another job ran: leftovers of that job may count as memory of this job.
  bool was_ahead = false;
  bool is_stopped = false;

  const v1::Job& job() const { return message.job(); }
};

class SlotJobs {
 public:
  void AddJob(v1::ExecutorJob message) { jobs_.push_back({.message = std::move(message)}); }
  // Notes that the job must be stopped when it begins.
  void StopJob(uint64_t attempt) {
    for (SlotJob& held : jobs_) held.is_stopped |= held.job().attempt() == attempt;
  }
  // Strikes the part from its job. True: the executor has the job.
  bool StrikePart(const v1::JobPart& part) {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (jobs_[i].job().attempt() != part.attempt()) continue;
      StrikeTargets(part, *jobs_[i].message.mutable_job());
      return i < sent_;
    }
    return false;
  }

  bool is_running() const { return sent_ > 0; }
  // The running job, or the next one. REQUIRES: there is a job.
  SlotJob& front() { return jobs_.front(); }
  // The running attempt; 0: none.
  uint64_t attempt() const { return is_running() ? jobs_.front().job().attempt() : 0; }
  size_t sent() const { return sent_; }
  size_t size() const { return jobs_.size(); }
  bool empty() const { return jobs_.empty(); }
  SlotJob& operator[](size_t i) { return jobs_[i]; }

  void NoteSent(size_t count) { sent_ += count; }
  void EndJob() {
    jobs_.pop_front();
    --sent_;
  }
  // The executor that had some of the jobs is gone.
  void NoteNoneSent() { sent_ = 0; }
  // Takes all jobs out, and returns their attempts.
  std::vector<uint64_t> TakeAttempts() {
    std::vector<uint64_t> attempts;
    sent_ = 0;
    for (const SlotJob& held : std::exchange(jobs_, {})) attempts.push_back(held.job().attempt());
    return attempts;
  }

 private:
  std::deque<SlotJob> jobs_;
  size_t sent_ = 0;
};

}  // namespace galley::worker
