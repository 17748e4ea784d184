// WorkerLifecycle: handles workers that start, attach, fall silent, drain and are lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "director/core/core_figures.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/job_returns.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/jobs/worker_table.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/culprits.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/fleet.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/input_affinity.h"
#include "director/core/workers/parked_jobs.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/worker_loss.h"

namespace galley::director {

class WorkerLifecycle : JobPart {
 public:
  struct Deps {
    MachineTable& machines;
    InputAffinity& input_affinity;
    Attempts& attempts;
    ResumedAttempts& resumed_attempts;
    PackageProgress& package_progress;
    PendingCommits& commits;
    HeldResults& held_results;
    Eligibility& eligibility;
    JobReturns& job_returns;
    WorkerLoss& worker_loss;
    ParkedJobs& parked_jobs;
    Breakers& breakers;
    Faults& faults;
    Culprits& culprits;
    Fleet& fleet;
    Survivors& survivors;
  };
  WorkerLifecycle(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  void OnWorkerAttached(const WorkerAttached& event);
  void OnWorkerLost(const WorkerLost& event);
  void OnWorkerPending(const WorkerPending& event);
  void OnWorkerUploads(const WorkerUploads& event);
  void OnWorkerUnfit(const WorkerUnfit& event);
  void OnDrainAsked(const DrainAsked& event);
  void OnWorkerAlive(const WorkerAlive& event);
  void OnLauncherReported(const LauncherReported& event);
  void LoseTheSilent();
  // A cook begins: start failures are forgotten, and workers send results whose commit failed
  // again.
  void BeginCook();

 private:
  void NoteUploading(WorkerId worker, AttemptId attempt);
  void CountSpawnFailure(const std::string& error);
  void CountLaunchFailure(absl::Duration asked_at, const std::string& error, bool is_unfit = false);
  // Ends the cooks if too many workers were lost in a row and no attached worker ever worked.
  void EndIfAllAreLost(const std::string& reason);

  const Deps deps_;
};

}  // namespace galley::director
