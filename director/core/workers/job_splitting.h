// JobSplitting: platforms of a running job go to an idle worker, which loads the package once more
// for them. The first worker is told to leave the platforms out; a platform that has begun there
// goes on, and the first result counts.
//
// A worker cooks a package's platforms in their order, so the last platforms go. A job that is
// worth it is split once more at each look, up to as many attempts as a package that kills its
// executors may have: the package may yet turn out to kill. Not split is a package that
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
    absl::Duration expected;  // with a load of its own
    absl::Duration gain;      // by how much sooner the package is done
  };

  std::vector<Share> Shares() const;
  bool MayHaveAnother(PackageId package) const;
  // No platforms: nothing is gained. `ran`: how long the attempt has run.
  Share ShareOf(AttemptId attempt, absl::Duration ran) const;

  Attempts& attempts_;
  JobHandover& job_handover_;
  Stragglers& stragglers_;
};

}  // namespace galley::director
