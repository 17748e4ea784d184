// LoadBalancer: moves work from the busiest worker to an idle worker.
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
  LoadBalancer(const JobGround& ground, Costs& costs, Reservations& reservations,
               Attempts& attempts, PackageProgress& package_progress, Eligibility& eligibility,
               WorkerTrust& worker_trust, WorkerChoice& worker_choice, JobHandover& job_handover)
      : JobPart(ground),
        costs_(costs),
        reservations_(reservations),
        attempts_(attempts),
        package_progress_(package_progress),
        eligibility_(eligibility),
        worker_trust_(worker_trust),
        worker_choice_(worker_choice),
        job_handover_(job_handover) {}

  void Balance();
  // A package in hand became High, or more urgent: its job is taken back from a worker's queue, and
  // goes before less urgent waiting jobs.
  void TakeForward(PackageId package);

 private:
  bool RetractFor(WorkerId idle, WorkerId busy);
  bool IsBetterOffAt(AttemptId attempt, WorkerId idle) const;

  Costs& costs_;
  Reservations& reservations_;
  Attempts& attempts_;
  PackageProgress& package_progress_;
  Eligibility& eligibility_;
  WorkerTrust& worker_trust_;
  WorkerChoice& worker_choice_;
  JobHandover& job_handover_;
};

}  // namespace galley::director
