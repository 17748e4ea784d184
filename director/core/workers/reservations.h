// Reservations: a job that wants several units of resources is not to wait for ever while others,
// which want fewer, take each one that comes free.
//
// A job that waits for resources, the first of those that want the same, for overtaken_max gets
// what it wants *reserved*: of the farm, and on the machine where the least is missing. What
// others may take is then what lies beyond. Jobs that are more urgent go before it all the same,
// until it has waited for overtaken_by_urgent_max; Blocking ones always do. There is one
// reservation at a time, and it ends when its job is handed over or waits no longer: so no two
// wait for each other.
//
// Cost: Look O(groups of resources that wait), twice a second; the others O(1).
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

// A worker that gets nothing until it has room for a large job.
struct KeptWorker {
  WorkerId worker;
  PackageId package;  // that it is kept for
};

class Reservations : JobPart {
 public:
  Reservations(const JobGround& ground, Grants& grants, ExclusiveRun& exclusive_run,
               Eligibility& eligibility)
      : JobPart(ground),
        grants_(grants),
        exclusive_run_(exclusive_run),
        eligibility_(eligibility) {}

  // A step hands jobs over: reservations come and go.
  void Look();
  // The package leaves of the farm what is reserved for another; and of the worker's machine.
  bool MayTake(PackageId package) const;
  bool MayTakeAt(PackageId package, WorkerId worker) const;
  // The worker that is kept for a large job (LargeJobs).
  std::optional<KeptWorker>& kept_worker() { return kept_worker_; }
  // The worker is kept for another package than this one.
  bool IsKeptFrom(PackageId package, WorkerId worker) const {
    return kept_worker_.has_value() && kept_worker_->worker == worker &&
           kept_worker_->package != package;
  }

 private:
  struct Reserved {
    PackageId package;
    uint32_t group = 0;
    WorkerId worker;  // one of the machine
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
