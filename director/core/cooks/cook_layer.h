// CookLayer: the parts that run the cooks, let packages join them, judge how packages fit together,
// and answer questions. A part receives parts that are above it in the list.
// Threads: none; owned by Core.
#pragma once

#include "director/core/cooks/asks.h"
#include "director/core/cooks/cook_table.h"
#include "director/core/cooks/cook_validation.h"
#include "director/core/cooks/graph_exploration.h"
#include "director/core/cooks/package_admission.h"
#include "director/core/cooks/project_changes.h"
#include "director/core/cooks/queries.h"
#include "director/core/cooks/unneeded_packages.h"
#include "director/core/workers/worker_layer.h"

namespace galley::director {

struct CookLayer {
  explicit CookLayer(WorkerLayer& worker_layer) : workers(worker_layer) {}
  CookLayer(const CookLayer&) = delete;
  CookLayer& operator=(const CookLayer&) = delete;

  WorkerLayer& workers;
  Queries queries{workers.jobs.ground, workers.jobs.grants, workers.jobs.attempts,
                  workers.jobs.packages.urgencies, workers.parked_jobs};
  PackageAdmission package_admission{
      workers.jobs.ground,
      {workers.jobs.packages.costs, workers.jobs.grants, workers.jobs.packages.waits,
       workers.jobs.package_progress, workers.jobs.claims, workers.jobs.wait_evaluation,
       workers.eligibility}};
  CookValidation cook_validation{workers.jobs.ground, workers.jobs.cook_only_failures,
                                 workers.jobs.packages.warnings};
  UnneededPackages unneeded_packages{workers.jobs.ground,
                                     {workers.jobs.packages.kept_failures, workers.jobs.attempts,
                                      workers.jobs.commits, workers.held_results}};
  CookTable table{workers.jobs.ground,
                  {workers.jobs.resumed_attempts, workers.jobs.commits,
                   workers.jobs.package_progress, workers.jobs.cook_only_failures,
                   workers.jobs.packages.warnings, workers.jobs.claims, cook_validation},
                  {workers.reservations, workers.jobs.attempts, workers.held_results,
                   workers.breakers, workers.faults, workers.worker_lifecycle, unneeded_packages}};
  Asks asks{workers.jobs.ground,
            {workers.jobs.packages.kept_failures, workers.jobs.resumed_attempts,
             workers.jobs.claims, workers.worker_lifecycle}};
  GraphExploration graph_exploration{workers.jobs.ground, workers.jobs.claims, cook_validation};
  ProjectChanges project_changes{
      workers.jobs.ground,
      {workers.jobs.attempts, workers.jobs.package_progress, workers.jobs.commits,
       workers.jobs.cook_only_failures, workers.jobs.claims, workers.held_results, table}};
};

}  // namespace galley::director
