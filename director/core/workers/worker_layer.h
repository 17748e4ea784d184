// WorkerLayer: the parts that choose workers for jobs, and start workers.
// A part receives parts that are above it in the list.
// Threads: none; owned by Core.
#pragma once

#include "director/core/jobs/job_layer.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/culprits.h"
#include "director/core/workers/dispatcher.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/exclusive_run.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/fleet.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/input_affinity.h"
#include "director/core/workers/job_handover.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/large_jobs.h"
#include "director/core/workers/load_balancer.h"
#include "director/core/workers/parked_jobs.h"
#include "director/core/workers/proofs.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/spare_jobs.h"
#include "director/core/workers/stragglers.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/worker_choice.h"
#include "director/core/workers/worker_lifecycle.h"
#include "director/core/workers/worker_loss.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

struct WorkerLayer {
  explicit WorkerLayer(JobLayer& job_layer) : jobs(job_layer) {}
  WorkerLayer(const WorkerLayer&) = delete;
  WorkerLayer& operator=(const WorkerLayer&) = delete;

  JobLayer& jobs;
  InputAffinity input_affinity;
  ExclusiveRun exclusive_run{jobs.ground, jobs.attempts, jobs.commits, jobs.cache_queries};
  HeldResults held_results{jobs.ground, jobs.acknowledgements};
  Eligibility eligibility{jobs.ground, jobs.grants, jobs.attempts, jobs.package_progress,
                          held_results};
  Reservations reservations{jobs.ground, jobs.grants, exclusive_run, eligibility};
  WorkerTrust worker_trust{jobs.ground,
                           {jobs.packages.costs, jobs.machines, jobs.overrun_histogram,
                            jobs.attempts, eligibility, jobs.job_returns}};
  WorkerChoice worker_choice{jobs.ground,
                             {jobs.packages.costs, input_affinity, eligibility, reservations,
                              worker_trust, jobs.attempts, exclusive_run}};
  WorkerLoss worker_loss{jobs.ground,
                         {jobs.grants, input_affinity, jobs.attempts, jobs.resumed_attempts,
                          jobs.package_progress, held_results, jobs.job_returns, worker_trust}};
  Proofs proofs{
      jobs.ground,
      {jobs.machines, jobs.attempts, jobs.packages.waits, jobs.package_progress, jobs.commits,
       jobs.acknowledgements, held_results, eligibility, jobs.result_acceptance, worker_loss}};
  ParkedJobs parked_jobs{
      jobs.ground,
      {jobs.package_progress, held_results, eligibility, reservations, worker_choice, proofs}};
  JobQueue job_queue{
      jobs.ground,
      {jobs.packages.costs, jobs.grants, jobs.resumed_attempts, exclusive_run, reservations}};
  Breakers breakers{
      jobs.ground,
      {jobs.machines, jobs.commits, jobs.job_returns, worker_trust, worker_loss, job_queue}};
  JobHandover job_handover{jobs.ground,
                           {jobs.packages.costs, jobs.grants, input_affinity, jobs.attempts,
                            jobs.resumed_attempts, jobs.equal_work_followers, jobs.packages.waits,
                            held_results, worker_choice, job_queue, breakers}};
  LoadBalancer load_balancer{
      jobs.ground,
      {jobs.packages.costs, reservations, jobs.attempts, jobs.package_progress, eligibility,
       worker_trust, worker_choice, job_handover}};
  Faults faults{jobs.ground,
                {jobs.packages.kept_failures, jobs.attempts, jobs.package_progress, exclusive_run,
                 worker_choice, breakers}};
  Culprits culprits{jobs.ground, jobs.machines, jobs.attempts, jobs.package_progress, faults};
  Fleet fleet{jobs.ground,
              {jobs.grants, held_results, eligibility, worker_loss, parked_jobs, job_queue}};
  Survivors survivors{
      jobs.ground,
      {jobs.packages.costs, jobs.grants, jobs.attempts, jobs.resumed_attempts,
       jobs.package_progress, jobs.cache_queries, eligibility, reservations, job_handover}};
  WorkerLifecycle worker_lifecycle{
      jobs.ground,
      {jobs.machines, input_affinity, jobs.attempts, jobs.resumed_attempts, jobs.package_progress,
       jobs.commits, held_results, eligibility, jobs.job_returns, worker_loss, parked_jobs,
       breakers, faults, culprits, fleet, survivors}};
  LargeJobs large_jobs{jobs.ground,
                       {jobs.packages.costs, exclusive_run, eligibility, reservations, worker_trust,
                        worker_choice, job_queue, job_handover, faults, survivors}};
  Stragglers stragglers{jobs.ground,
                        {jobs.machines, jobs.overrun_histogram, jobs.attempts, worker_trust,
                         worker_choice, job_handover}};
  SpareJobs spare_jobs{jobs.ground,
                       {jobs.packages.costs, jobs.grants, jobs.attempts, jobs.package_progress,
                        held_results, eligibility, reservations, worker_choice, parked_jobs,
                        job_queue, job_handover, faults, survivors}};
  Dispatcher dispatcher{
      jobs.ground,
      {jobs.attempts, jobs.resumed_attempts, exclusive_run, reservations, worker_trust,
       worker_choice, parked_jobs, job_queue, job_handover, load_balancer, faults, culprits, fleet,
       survivors, large_jobs, stragglers, spare_jobs}};
};

}  // namespace galley::director
