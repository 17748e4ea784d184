// JobQueue: chooses the package that is handed over next: the most urgent one, except for the share
// of the lower classes (class_quota.h). Spare jobs are no part of the queue (spare_jobs.h).
// Threads: none; owned by its layer.
#pragma once

#include "absl/time/time.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/resumed_attempts.h"
#include "director/core/packages/costs.h"
#include "director/core/workers/class_quota.h"
#include "director/core/workers/exclusive_run.h"
#include "director/core/workers/reservations.h"

namespace galley::director {

class JobQueue : JobPart {
 public:
  struct Deps {
    Costs& costs;
    Grants& grants;
    ResumedAttempts& resumed_attempts;
    ExclusiveRun& exclusive_run;
    Reservations& reservations;
  };
  JobQueue(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  // True: some job is ready, waits for something, or is in hand. Spare jobs do not count.
  bool HasLoadWork() const;
  // True: some job is ready, or waits to run alone.
  bool HasReadyJob() const;
  // The next package whose resources are free. Packages before it whose resources are taken go to
  // the save queue. Invalid: none.
  PackageId NextJob();
  // True: the package's resources are free, and are not reserved for another package.
  bool HasResources(PackageId package) const;
  bool HasBlockingJob() const;
  // The package's urgency, or the higher urgency that it has while it is its class's turn.
  Urgency UrgencyOf(PackageId package) const;
  // The package is handed over: updates ClassQuota.
  void Account(PackageId package, absl::Duration expected);
  // The job that NextJob chose for its class's turn is not handed over now.
  void EndTurn() { lent_ = {}; }

 private:
  // Lent: the urgency that a job of a lower class gets while it is its class's turn.
  struct Lent {
    PackageId package;
    Urgency urgency = Urgency::kLow;
  };

  PackageId NextInTurn();
  PackageId FirstStalled(Urgency urgency) const;
  PackageId FirstAtMost(Urgency urgency) const;
  bool IsAnyStalled() const;

  Lent lent_;
  ClassQuota class_quota_;

  const Deps deps_;
};

}  // namespace galley::director
