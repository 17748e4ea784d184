// Reservations: a job that wants several units of resources does not wait for ever while other
// jobs, which want fewer, take each unit that comes free.
//
// A job that waits for resources for overtaken_max, and is the first of the jobs that want the
// same, gets its units *reserved*: of the farm, and on the machine where the fewest units are
// missing. Other jobs may take only the units beyond the reservation. More urgent jobs go before
// the reservation all the same, until its job has waited for overtaken_by_urgent_max; Blocking jobs
// always do. There is one reservation at a time, and it ends when its job is handed over or waits
// no longer: so no two jobs wait for each other.
//
// Cost: Look O(groups of resources that wait), twice a second; the other calls O(1).
// Threads: none.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/exclusive_run.h"

namespace galley::director {

// A worker that gets no other job until the worker has room for a large job.
struct KeptWorker {
  WorkerId worker;
  PackageId package;  // the large job
};

class Reservations : JobPart {
 public:
  Reservations(const JobGround& ground, Grants& grants, ExclusiveRun& exclusive_run,
               Eligibility& eligibility)
      : JobPart(ground),
        grants_(grants),
        exclusive_run_(exclusive_run),
        eligibility_(eligibility) {}

  // A step hands jobs over: makes and ends reservations.
  void Look();
  // MayTake: the package leaves the units that the farm reserves for another package. MayTakeAt:
  // the same for the worker's machine.
  bool MayTake(PackageId package) const;
  bool MayTakeAt(PackageId package, WorkerId worker) const;
  // The worker that is kept for a large job (LargeJobs).
  std::optional<KeptWorker>& kept_worker() { return kept_worker_; }
  // True: the worker is kept for another package than this one.
  bool IsKeptFrom(PackageId package, WorkerId worker) const {
    return kept_worker_.has_value() && kept_worker_->worker == worker &&
           kept_worker_->package != package;
  }

 private:
  struct Reserved {
    PackageId package;
    uint32_t group = 0;
    WorkerId worker;  // a worker of the machine
  };

  bool Waits(PackageId package) const;
  bool IsOver() const;
  bool IsReserved() const;
  bool GoesBefore(PackageId package) const;
  void Consider(PackageId package, std::vector<std::pair<absl::Time, PackageId>>& overtaken) const;
  bool Reserve(PackageId package);

  std::optional<Reserved> reserved_;
  std::optional<KeptWorker> kept_worker_;
  absl::Duration looked_at_ = -absl::InfiniteDuration();

  Grants& grants_;
  ExclusiveRun& exclusive_run_;
  Eligibility& eligibility_;
};

}  // namespace galley::director
