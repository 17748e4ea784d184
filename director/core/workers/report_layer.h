// ReportLayer: the parts that take the reports of workers, and the outcomes of commits.
// Threads: none; owned by Core.
#pragma once

#include "director/core/workers/commit_outcomes.h"
#include "director/core/workers/reports.h"
#include "director/core/workers/worker_layer.h"

namespace galley::director {

struct ReportLayer {
  explicit ReportLayer(WorkerLayer& worker_layer) : workers(worker_layer) {}
  ReportLayer(const ReportLayer&) = delete;
  ReportLayer& operator=(const ReportLayer&) = delete;

  WorkerLayer& workers;
  CommitOutcomes commit_outcomes{workers.jobs.ground,
                                 {workers.jobs.attempts, workers.jobs.package_progress,
                                  workers.jobs.commits, workers.jobs.discovered_references,
                                  workers.jobs.acknowledgements, workers.breakers, workers.faults}};
  Reports reports{workers.jobs.ground,
                  {workers.jobs.attempts,
                   workers.jobs.resumed_attempts,
                   workers.jobs.equal_work_followers,
                   workers.jobs.packages.waits,
                   workers.jobs.package_progress,
                   workers.jobs.commits,
                   workers.jobs.packages.warnings,
                   workers.jobs.claims,
                   workers.jobs.wait_cycles,
                   workers.jobs.wait_evaluation,
                   workers.jobs.discovered_references,
                   workers.jobs.acknowledgements,
                   workers.held_results,
                   workers.eligibility,
                   workers.jobs.result_acceptance,
                   workers.proofs,
                   workers.breakers,
                   workers.faults,
                   workers.culprits,
                   workers.fleet}};
};

}  // namespace galley::director
