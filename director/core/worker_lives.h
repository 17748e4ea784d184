// WorkerLives: workers start, attach, fall silent and are lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "director/core/core_figures.h"
#include "director/core/part.h"
#include "director/core/worker_table.h"

namespace galley::director {

class WorkerLives : Part {
 public:
  explicit WorkerLives(Core& core) : Part(core) {}

  void OnWorkerAttached(const WorkerAttached& event);
  void OnWorkerLost(const WorkerLost& event);
  void OnWorkerPending(const WorkerPending& event);
  void OnWorkerUploads(const WorkerUploads& event);
  void OnWorkerUnfit(const WorkerUnfit& event);
  void OnDrainAsked(const DrainAsked& event);
  void OnWorkerAlive(const WorkerAlive& event);
  void OnLauncherReported(const LauncherReported& event);
  void LoseTheSilent();
  // It gets no more jobs, finishes what has begun there, and ends. REQUIRES: attached.
  void Drain(WorkerId worker);
  // It gets no more jobs, all that it has in hand goes to others, and it ends.
  void Dismiss(WorkerId worker);
  // It broke the protocol: all that it has in hand goes to others, and it counts as lost.
  void LoseViolator(WorkerId worker);
  // How often in a row workers did not start, or were lost before they did anything.
  uint32_t failures(Pool pool) const {
    return std::max(pool == Pool::kLaunched ? launch_failures_ : spawn_failures_, losses_);
  }
  // A worker that was asked for may attach soon on another machine. O(workers).
  bool ExpectsBeside(uint32_t machine) const;
  // A worker's process did something of a job.
  void NoteWorks(WorkerId worker);
  // The report is durable, or nobody wants it: the worker need not send it again.
  void Acknowledge(WorkerId worker, ReportId report);
  // The worker's last report on the attempt was seen: the attempt is forgotten when all reports up
  // to that one are acknowledged. The caller acknowledges it.
  void NoteEnded(WorkerId worker, ReportId report, AttemptId attempt);
  // A cook begins: workers that did not start for the one before may start for this one. And what a
  // failed commit left with them may be durable this time.
  void BeginCook();

 private:
  void NoteUploading(WorkerId worker, AttemptId attempt);
  void CountSpawnFailure(const std::string& error);
  void CountLaunchFailure(absl::Duration asked_at, const std::string& error, bool is_unfit = false);
  // Where none of those that are attached ever worked, others would be lost as well.
  void EndIfAllAreLost(const std::string& reason);
  void Lose(WorkerId worker, bool is_in_order = false);
  void GiveBack(WorkerId worker);
  void ForgetEnded(Worker& worker);
  PoolFigures& PoolCounts(WorkerId worker) const;

  uint32_t spawn_failures_ = 0;  // in a row
  uint32_t launch_failures_ = 0;
  uint32_t unfit_ = 0;  // those among the last failures that said so themselves, in a row
  absl::Duration launch_failed_at_ = -absl::InfiniteDuration();  // the last that was counted
  uint32_t losses_ = 0;  // of workers, with no report in between
};

}  // namespace galley::director
