// JobLayer: the parts that do the work on packages: look-ups, attempts, commits, and the jobs in
// each worker's hands. A part receives parts that are above it in the list.
// Threads: none; owned by Core.
#pragma once

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
#include "director/core/jobs/worker_table.h"
#include "director/core/packages/package_layer.h"

namespace galley::director {

struct JobLayer {
  explicit JobLayer(PackageLayer& package_layer);
  JobLayer(const JobLayer&) = delete;
  JobLayer& operator=(const JobLayer&) = delete;

  PackageLayer& packages;
  WorkerTable worker_table;
  MachineTable machines;
  Grants grants;
  OverrunHistogram overrun_histogram;
  const JobGround ground{packages.ground, worker_table};
  Attempts attempts{ground, packages.costs, machines, grants, overrun_histogram};
  ResumedAttempts resumed_attempts{ground, grants, attempts};
  EqualWorkFollowers equal_work_followers{ground, resumed_attempts, packages.urgencies};
  PackageProgress package_progress{ground,           packages.kept_failures, attempts,
                                   resumed_attempts, equal_work_followers,   packages.waits};
  PendingCommits commits{ground, equal_work_followers};
  CookOnlyFailures cook_only_failures{ground, package_progress};
  Claims claims{ground,
                {packages.kept_failures, attempts, resumed_attempts, packages.urgencies,
                 packages.waits, package_progress, cook_only_failures, packages.warnings}};
  WaitCycles wait_cycles{ground, packages.urgencies, packages.waits, package_progress};
  WaitEvaluation wait_evaluation{
      ground, {packages.waits, package_progress, cook_only_failures, claims, wait_cycles}};
  DiscoveredReferences discovered_references{ground, package_progress, claims, wait_evaluation};
  CacheQueries cache_queries{
      ground,
      {packages.costs, packages.waits, package_progress, commits, packages.warnings, claims,
       wait_cycles, wait_evaluation, discovered_references}};
  Acknowledgements acknowledgements{ground, attempts, resumed_attempts};
  JobReturns job_returns{ground, attempts, package_progress};
  ResultAcceptance result_acceptance{ground,
                                     {packages.costs, attempts, packages.waits, commits,
                                      packages.warnings, discovered_references}};
};

}  // namespace galley::director
