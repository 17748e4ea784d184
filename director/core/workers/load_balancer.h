// LoadBalancer: moves waiting jobs from the busiest workers to idle workers.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/packages/costs.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/job_handover.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/worker_choice.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

class LoadBalancer : JobPart {
 public:
  struct Deps {
    Costs& costs;
    Reservations& reservations;
    Attempts& attempts;
    PackageProgress& package_progress;
    Eligibility& eligibility;
    WorkerTrust& worker_trust;
    WorkerChoice& worker_choice;
    JobHandover& job_handover;
  };
  LoadBalancer(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  void Balance();
  // A package became High or more urgent. If its job waits at a worker, the job is taken back and
  // handed over again, before less urgent jobs.
  void TakeForward(PackageId package);

 private:
  bool RetractFor(WorkerId idle, WorkerId busy);
  bool IsBetterOffAt(AttemptId attempt, WorkerId idle) const;

  const Deps deps_;
};

}  // namespace galley::director
