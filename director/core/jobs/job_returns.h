// JobReturns: takes jobs from a worker, for other workers.
// Threads: none; owned by its layer.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"

namespace galley::director {

class JobReturns : JobPart {
 public:
  JobReturns(const JobGround& ground, Attempts& attempts, PackageProgress& package_progress)
      : JobPart(ground), attempts_(attempts), package_progress_(package_progress) {}

  // The jobs that wait at the worker go to other workers. Jobs that have begun stay, since they may
  // succeed. Two kinds of waiting jobs stay, too: a job that holds a resource, which it would hold
  // twice, and a job of a package with own faults, which might kill one more executor.
  void TakeBackWaiting(WorkerId worker);
  // The worker's jobs go to other workers; no package is blamed. REQUIRES: the worker was just
  // lost.
  void GiveBack(WorkerId worker);

 private:
  Attempts& attempts_;
  PackageProgress& package_progress_;
};

}  // namespace galley::director
