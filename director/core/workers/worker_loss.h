// WorkerLoss: a worker is lost, or is to go: its jobs in hand go to other workers.
// Threads: none; owned by Core.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/job_returns.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/input_affinity.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

class WorkerLoss : JobPart {
 public:
  WorkerLoss(const JobGround& ground, Grants& grants, InputAffinity& input_affinity,
             Attempts& attempts, ResumedAttempts& resumed_attempts,
             PackageProgress& package_progress, HeldResults& held_results, JobReturns& job_returns,
             WorkerTrust& worker_trust)
      : JobPart(ground),
        grants_(grants),
        input_affinity_(input_affinity),
        attempts_(attempts),
        resumed_attempts_(resumed_attempts),
        package_progress_(package_progress),
        held_results_(held_results),
        job_returns_(job_returns),
        worker_trust_(worker_trust) {}

  // The worker is lost. The caller ends the jobs in its hand. `is_in_order`: the worker said
  // goodbye.
  void Lose(WorkerId worker, bool is_in_order = false);
  // The worker broke the protocol: its jobs in hand go to other workers, and the worker counts as
  // lost.
  void LoseViolator(WorkerId worker);
  // The worker gets no more jobs, finishes the jobs that have begun there, and ends. REQUIRES:
  // attached.
  void Drain(WorkerId worker);
  // The worker gets no more jobs, its jobs in hand go to other workers, and the worker ends.
  void Dismiss(WorkerId worker);

 private:
  Grants& grants_;
  InputAffinity& input_affinity_;
  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
  PackageProgress& package_progress_;
  HeldResults& held_results_;
  JobReturns& job_returns_;
  WorkerTrust& worker_trust_;
};

}  // namespace galley::director
