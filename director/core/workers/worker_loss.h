// WorkerLoss: a worker is lost, or is to go: what it has in hand goes to others.
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

  // It is lost. What it had in hand is the caller's to end. `is_in_order`: it said goodbye.
  void Lose(WorkerId worker, bool is_in_order = false);
  // It broke the protocol: all that it has in hand goes to others, and it counts as lost.
  void LoseViolator(WorkerId worker);
  // It gets no more jobs, finishes what has begun there, and ends. REQUIRES: attached.
  void Drain(WorkerId worker);
  // It gets no more jobs, all that it has in hand goes to others, and it ends.
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
