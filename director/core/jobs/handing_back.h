// HandingBack: jobs that a worker has in hand go to others.
// Threads: none; owned by Core.
#pragma once

#include "director/core/jobs/advancing.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"

namespace galley::director {

class HandingBack : JobPart {
 public:
  HandingBack(const JobGround& ground, Attempts& attempts, Advancing& advancing)
      : JobPart(ground), attempts_(attempts), advancing_(advancing) {}

  // What waits at the worker goes to others. (What has begun may well succeed.)
  void TakeBackWaiting(WorkerId worker);
  // All that it has in hand goes to others, who are not told why. REQUIRES: it was lost just now.
  void GiveBack(WorkerId worker);

 private:
  Attempts& attempts_;
  Advancing& advancing_;
};

}  // namespace galley::director
