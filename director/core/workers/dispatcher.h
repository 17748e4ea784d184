// Dispatcher: hands over all jobs that may be handed over in a step.
// Threads: none; owned by Core.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/workers/culprits.h"
#include "director/core/workers/exclusive_run.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/fleet.h"
#include "director/core/workers/job_handover.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/job_splitting.h"
#include "director/core/workers/large_jobs.h"
#include "director/core/workers/load_balancer.h"
#include "director/core/workers/parked_jobs.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/stragglers.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/worker_choice.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

class Dispatcher : JobPart {
 public:
  Dispatcher(const JobGround& ground, Attempts& attempts, ResumedAttempts& resumed_attempts,
             ExclusiveRun& exclusive_run, Reservations& reservations, WorkerTrust& worker_trust,
             WorkerChoice& worker_choice, ParkedJobs& parked_jobs, JobQueue& job_queue,
             JobHandover& job_handover, LoadBalancer& load_balancer, Faults& faults,
             Culprits& culprits, Fleet& fleet, Survivors& survivors, LargeJobs& large_jobs,
             Stragglers& stragglers)
      : JobPart(ground),
        attempts_(attempts),
        resumed_attempts_(resumed_attempts),
        exclusive_run_(exclusive_run),
        reservations_(reservations),
        worker_trust_(worker_trust),
        worker_choice_(worker_choice),
        parked_jobs_(parked_jobs),
        job_queue_(job_queue),
        job_handover_(job_handover),
        load_balancer_(load_balancer),
        faults_(faults),
        culprits_(culprits),
        fleet_(fleet),
        survivors_(survivors),
        large_jobs_(large_jobs),
        stragglers_(stragglers),
        job_splitting_(ground, attempts, job_handover, stragglers) {}

  void HandOverAll();

 private:
  void Overtake();

  Attempts& attempts_;
  ResumedAttempts& resumed_attempts_;
  ExclusiveRun& exclusive_run_;
  Reservations& reservations_;
  WorkerTrust& worker_trust_;
  WorkerChoice& worker_choice_;
  ParkedJobs& parked_jobs_;
  JobQueue& job_queue_;
  JobHandover& job_handover_;
  LoadBalancer& load_balancer_;
  Faults& faults_;
  Culprits& culprits_;
  Fleet& fleet_;
  Survivors& survivors_;
  LargeJobs& large_jobs_;
  Stragglers& stragglers_;
  JobSplitting job_splitting_;
};

}  // namespace galley::director
