// JobSplitting: moves platforms of a running job to an idle worker, which loads the package again.
// The first worker is told to leave these platforms out. A platform that has begun there goes on,
// and the first result counts.
//
// A worker cooks a package's platforms in order, so the last platforms move. A job may be split
// again at each look, but the attempts at one time are limited
// (RetryPolicy::MayHaveAnotherAtATime), since the package may turn out to kill its executors. A
// package is not split if it
//   - holds a resource, which it would hold twice;
//   - failed through its own fault, now or under an earlier director;
//   - has a backup;
//   - was handed over for another set of platforms.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/workers/job_handover.h"
#include "director/core/workers/stragglers.h"

namespace galley::director {

class JobSplitting : JobPart {
 public:
  JobSplitting(const JobGround& ground, Attempts& attempts, JobHandover& job_handover,
               Stragglers& stragglers)
      : JobPart(ground),
        attempts_(attempts),
        job_handover_(job_handover),
        stragglers_(stragglers) {}

  void Split();

 private:
  // The platforms of an attempt that should go elsewhere.
  struct Share {
    AttemptId attempt = 0;
    PlatformMask platforms = 0;
    absl::Duration expected;  // with another load
    absl::Duration gain;      // how much sooner the package is done
  };

  std::vector<Share> Shares() const;
  bool MayHaveAnother(PackageId package) const;
  // `platforms` is 0: there is no gain. `ran`: how long the attempt has run.
  Share ShareOf(AttemptId attempt, absl::Duration ran) const;

  Attempts& attempts_;
  JobHandover& job_handover_;
  Stragglers& stragglers_;
};

}  // namespace galley::director
