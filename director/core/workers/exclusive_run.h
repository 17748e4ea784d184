// ExclusiveRun: decides which attempts run alone. When all attempts at a package outgrew their
// memory or time limits, its last attempt runs alone, so that jobs beside it are not the cause.
//
// The attempt waits until all else is done: no job runs or could run, and no look-up, commit or
// scan is open. While it runs, no job begins but Blocking ones, which end its aloneness. A Blocking
// package does not wait. When such attempts have taken CookOptions::alone_max in total, other jobs
// begin again, and last attempts run beside them. Packages of a fail_fast cook never run alone. The
// shell keeps the failure of an attempt that was alone (FailureCause::kLimit), for the platform
// that it was making. All workers are assumed to be on one machine.
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
