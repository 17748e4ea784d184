// WorkerLoss: a worker is lost, or is to go: its jobs in hand go to other workers.
// Threads: none; owned by its layer.
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
  struct Deps {
    Grants& grants;
    InputAffinity& input_affinity;
    Attempts& attempts;
    ResumedAttempts& resumed_attempts;
    PackageProgress& package_progress;
    HeldResults& held_results;
    JobReturns& job_returns;
    WorkerTrust& worker_trust;
  };
  WorkerLoss(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

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
  const Deps deps_;
};

}  // namespace galley::director
