// ExclusiveRun: when all other attempts at a package outgrew their memory or their time, its last
// attempt has the machine for itself: only then the package's own need counts, and not the need of
// the jobs that ran beside it.
//
// The attempt waits until all else is done: no job is in hand or could be in hand, and no look-up,
// commit or scan is open. While the attempt runs no other job begins, except a Blocking job, which
// ends its aloneness. A Blocking package waits for no other. When such attempts took
// options.alone_max in a cook, waiting jobs wait no longer, and other last attempts run beside
// other jobs, as with fail_fast. The shell keeps a failure of an attempt that was alone
// (FailureCause::kLimit), for the platform that was at work. All workers are taken to be on one
// machine.
#pragma once

#include "absl/time/time.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/cache_queries.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/pending_commits.h"

namespace galley::director {

class ExclusiveRun : JobPart {
 public:
  ExclusiveRun(const JobGround& ground, Attempts& attempts, PendingCommits& commits,
               CacheQueries& cache_queries)
      : JobPart(ground), attempts_(attempts), commits_(commits), cache_queries_(cache_queries) {}

  bool IsToRunAlone(PackageId package) const;
  // REQUIRES: the package is in the cook, and not over.
  bool WaitsToBeAlone(PackageId package) const;
  bool IsAllElseDone() const;
  bool IsForTooLong() const;

 private:
  Attempts& attempts_;
  PendingCommits& commits_;
  CacheQueries& cache_queries_;
};

}  // namespace galley::director
