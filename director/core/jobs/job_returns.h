// JobReturns: the jobs that a worker has in hand go to other workers.
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
  // succeed.
  void TakeBackWaiting(WorkerId worker);
  // The jobs in the worker's hand go to other workers, which are not told why. REQUIRES: the
  // worker was just lost.
  void GiveBack(WorkerId worker);

 private:
  Attempts& attempts_;
  PackageProgress& package_progress_;
};

}  // namespace galley::director
