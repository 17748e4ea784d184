// Dispatcher: hands over, in each step, all jobs that workers can take.
// Threads: none; owned by its layer.
#pragma once

#include <vector>

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
#include "director/core/workers/spare_jobs.h"
#include "director/core/workers/stragglers.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/worker_choice.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

class Dispatcher : JobPart {
 public:
  struct Deps {
    Attempts& attempts;
    ResumedAttempts& resumed_attempts;
    ExclusiveRun& exclusive_run;
    Reservations& reservations;
    WorkerTrust& worker_trust;
    WorkerChoice& worker_choice;
    ParkedJobs& parked_jobs;
    JobQueue& job_queue;
    JobHandover& job_handover;
    LoadBalancer& load_balancer;
    Faults& faults;
    Culprits& culprits;
    Fleet& fleet;
    Survivors& survivors;
    LargeJobs& large_jobs;
    Stragglers& stragglers;
    SpareJobs& spare_jobs;
  };
  Dispatcher(const JobGround& ground, const Deps& deps)
      : JobPart(ground),
        deps_(deps),
        job_splitting_(ground, deps.attempts, deps.job_handover, deps.stragglers) {}

  void HandOverAll();

 private:
  void HandOverOthers();
  void HandOverReady();
  bool HandOverNext(std::vector<PackageId>& aside);
  void HandOverSpare();
  void Overtake();

  const Deps deps_;
  JobSplitting job_splitting_;
};

}  // namespace galley::director
