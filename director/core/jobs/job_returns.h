// JobReturns: jobs that a worker has in hand go to others.
// Threads: none; owned by Core.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"

namespace galley::director {

class JobReturns : JobPart {
 public:
  JobReturns(const JobGround& ground, Attempts& attempts, PackageProgress& package_progress)
      : JobPart(ground), attempts_(attempts), package_progress_(package_progress) {}

  // What waits at the worker goes to others. (What has begun may well succeed.)
  void TakeBackWaiting(WorkerId worker);
  // All that it has in hand goes to others, who are not told why. REQUIRES: it was lost just now.
  void GiveBack(WorkerId worker);

 private:
  Attempts& attempts_;
  PackageProgress& package_progress_;
};

}  // namespace galley::director
