// Core: the parts of CookCore and what they share. The step is in core.cc; each family of events
// and decisions is a part of its own.
//
// A part calls the parts that it needs; what parts above it must do about something it leaves as a
// note (notes.h), which Core hands on.
// Threads: none.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "director/core/catalog.h"
#include "director/core/cooks/cook_table.h"
#include "director/core/cooks/cook_validation.h"
#include "director/core/cooks/graph_exploration.h"
#include "director/core/cooks/package_admission.h"
#include "director/core/cooks/project_changes.h"
#include "director/core/cooks/queries.h"
#include "director/core/core_figures.h"
#include "director/core/jobs/acknowledgements.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/cache_queries.h"
#include "director/core/jobs/claims.h"
#include "director/core/jobs/cook_only_failures.h"
#include "director/core/jobs/discovered_references.h"
#include "director/core/jobs/equal_work_followers.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/job_returns.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/overrun_histogram.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/jobs/result_acceptance.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/jobs/wait_cycles.h"
#include "director/core/jobs/wait_evaluation.h"
#include "director/core/packages/claimants.h"
#include "director/core/packages/core_counts.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/graph.h"
#include "director/core/packages/notes.h"
#include "director/core/packages/step_context.h"
#include "director/core/packages/urgencies.h"
#include "director/core/packages/waits.h"
#include "director/core/packages/warnings.h"
#include "director/core/workers/breakers.h"
#include "director/core/workers/class_quota.h"
#include "director/core/workers/commit_outcomes.h"
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
#include "director/core/workers/job_splitting.h"
#include "director/core/workers/kept_worker.h"
#include "director/core/workers/large_jobs.h"
#include "director/core/workers/load_balancer.h"
#include "director/core/workers/parked_jobs.h"
#include "director/core/workers/proofs.h"
#include "director/core/workers/reports.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/start_failures.h"
#include "director/core/workers/stragglers.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/suspects.h"
#include "director/core/workers/worker_choice.h"
#include "director/core/workers/worker_lifecycle.h"
#include "director/core/workers/worker_loss.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

struct Core {
  Core(const CookOptions& cook_options, std::shared_ptr<const Catalog> first_catalog);
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  void Step(absl::Time time, const Event& event, std::vector<Effect>& effects);
  bool HasAgenda() const;
  bool HasJobs() const;
  Progress ViewProgress(const Claimant& cook) const;
  CoreFigures ViewFigures();
  void CheckInvariants() const;

  const CookOptions options;
  const RetryPolicy retry{options};
  StepContext step;
  Costs costs;
  CoreCounts counts{costs};
  PackageTable packages;
  Notes notes;
  Claimants claimants{packages, counts, notes};
  Graph graph{options, step, packages, claimants};
  WorkerTable workers;
  MachineTable machines;
  EffectBatch effect_batch;
  Grants grants;
  OverrunHistogram overrun_histogram;
  ClassQuota class_quota;
  StartFailures start_failures;
  std::optional<KeptWorker> kept_worker;
  InputAffinity input_affinity;
  const JobGround ground{
      {options, retry, step, packages, claimants, graph, notes, effect_batch, counts}, workers};

  // Each receives parts that are above it in this list.
  Attempts attempts{ground, costs, machines, grants, overrun_histogram};
  ResumedAttempts resumed_attempts{ground, grants, attempts};
  Urgencies urgencies{ground};
  EqualWorkFollowers equal_work_followers{ground, resumed_attempts, urgencies};
  Waits waits{ground};
  PackageProgress package_progress{ground, attempts, resumed_attempts, equal_work_followers, waits};
  PendingCommits commits{ground, equal_work_followers};
  CookOnlyFailures cook_only_failures{ground, package_progress};
  Warnings warnings{ground};
  Claims claims{ground, attempts,         resumed_attempts,   urgencies,
                waits,  package_progress, cook_only_failures, warnings};
  WaitCycles wait_cycles{ground, urgencies, waits, package_progress};
  WaitEvaluation wait_evaluation{ground, waits,      package_progress, cook_only_failures,
                                 claims, wait_cycles};
  DiscoveredReferences discovered_references{ground, package_progress, claims, wait_evaluation};
  CacheQueries cache_queries{
      ground,   costs,  waits,       package_progress, commits,
      warnings, claims, wait_cycles, wait_evaluation,  discovered_references};
  ExclusiveRun exclusive_run{ground, attempts, commits, cache_queries};
  Acknowledgements acknowledgements{ground, attempts, resumed_attempts};
  HeldResults held_results{ground, acknowledgements};
  Eligibility eligibility{ground, grants, attempts, package_progress, held_results};
  Reservations reservations{ground, grants, exclusive_run, eligibility};
  Suspects suspects{ground, attempts, exclusive_run};
  JobReturns job_returns{ground, attempts, package_progress};
  WorkerTrust worker_trust{ground,   costs,       machines,   overrun_histogram,
                           attempts, eligibility, job_returns};
  WorkerChoice worker_choice{ground,      costs,        kept_worker, input_affinity,
                             eligibility, reservations, suspects,    worker_trust};
  ResultAcceptance result_acceptance{
      ground, costs, attempts, waits, commits, warnings, discovered_references};
  WorkerLoss worker_loss{ground,       grants,           input_affinity,
                         attempts,     resumed_attempts, package_progress,
                         held_results, job_returns,      worker_trust};
  Proofs proofs{ground,           machines,          attempts,         waits,
                package_progress, commits,           acknowledgements, held_results,
                eligibility,      result_acceptance, worker_loss};
  ParkedJobs parked_jobs{ground,       package_progress, held_results, eligibility,
                         reservations, worker_choice,    proofs};
  Queries queries{ground, grants, attempts, urgencies, parked_jobs};
  JobQueue job_queue{ground,           costs,         grants,      class_quota,
                     resumed_attempts, exclusive_run, reservations};
  Breakers breakers{ground, machines, commits, job_returns, worker_trust, worker_loss, job_queue};
  JobHandover job_handover{ground,
                           costs,
                           grants,
                           input_affinity,
                           attempts,
                           resumed_attempts,
                           equal_work_followers,
                           waits,
                           held_results,
                           worker_choice,
                           job_queue,
                           breakers};
  LoadBalancer load_balancer{ground,           costs,       kept_worker,  attempts,
                             package_progress, eligibility, worker_trust, worker_choice,
                             job_handover};
  PackageAdmission package_admission{ground,           costs,  grants,          waits,
                                     package_progress, claims, wait_evaluation, eligibility};
  Faults faults{ground, attempts, package_progress, exclusive_run, worker_choice, breakers};
  Culprits culprits{ground, machines, attempts, package_progress, faults};
  Fleet fleet{ground,      grants,      start_failures, held_results,
              eligibility, worker_loss, parked_jobs,    job_queue};
  Survivors survivors{ground,           costs,         grants,      attempts,     resumed_attempts,
                      package_progress, cache_queries, eligibility, reservations, job_handover};
  WorkerLifecycle worker_lifecycle{
      ground,           machines, start_failures, input_affinity, attempts,    resumed_attempts,
      package_progress, commits,  held_results,   eligibility,    job_returns, worker_loss,
      parked_jobs,      breakers, faults,         culprits,       fleet,       survivors};
  CookValidation cook_validation{ground, cook_only_failures, warnings};
  CookTable cooks{ground,
                  {resumed_attempts, commits, package_progress, cook_only_failures, warnings,
                   claims, cook_validation},
                  kept_worker,
                  attempts,
                  held_results,
                  breakers,
                  faults,
                  worker_lifecycle};
  GraphExploration graph_exploration{ground, claims, cook_validation};
  ProjectChanges project_changes{ground,       attempts, package_progress, commits, claims,
                                 held_results, cooks,    graph_exploration};
  LargeJobs large_jobs{ground,      costs,        kept_worker,  exclusive_run,
                       eligibility, reservations, worker_trust, worker_choice,
                       job_queue,   job_handover, faults,       survivors};
  Stragglers stragglers{ground,       machines,      overrun_histogram, attempts,
                        worker_trust, worker_choice, job_handover};
  JobSplitting job_splitting{ground, attempts, job_handover, stragglers};
  Dispatcher dispatcher{ground,        attempts,      resumed_attempts, exclusive_run, reservations,
                        worker_trust,  worker_choice, parked_jobs,      job_queue,     job_handover,
                        load_balancer, faults,        culprits,         fleet,         survivors,
                        large_jobs,    stragglers,    job_splitting};
  CommitOutcomes commit_outcomes{
      ground,   attempts, package_progress, commits, discovered_references, acknowledgements,
      breakers, faults};
  Reports reports{ground,
                  start_failures,
                  attempts,
                  resumed_attempts,
                  equal_work_followers,
                  waits,
                  package_progress,
                  commits,
                  warnings,
                  claims,
                  wait_cycles,
                  discovered_references,
                  acknowledgements,
                  held_results,
                  eligibility,
                  result_acceptance,
                  proofs,
                  breakers,
                  faults,
                  culprits};

 private:
  void Apply(const Event& event);
  void HandOnNotes();
  void RunAgenda(size_t units);  // that the step has done already
  size_t RunNext();              // returns units
};

}  // namespace galley::director
