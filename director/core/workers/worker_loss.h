// WorkerLoss: what follows when a worker is lost, or has to end.
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

  // The worker is lost. The caller ends its jobs. `is_in_order`: not counted as a loss.
  void Lose(WorkerId worker, bool is_in_order = false);
  // The worker broke the protocol: it counts as lost, and its jobs go to other workers.
  void LoseViolator(WorkerId worker);
  // The worker gets no more jobs, finishes its jobs that have begun or hold a resource, and ends.
  // The other jobs go to other workers. REQUIRES: attached.
  void Drain(WorkerId worker);
  // The worker gets no more jobs, its jobs are cancelled and go to other workers, and it ends.
  void Dismiss(WorkerId worker);

 private:
  const Deps deps_;
};

}  // namespace galley::director
