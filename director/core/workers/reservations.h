// Reservations: keeps a job that wants several units of resources from waiting for ever, while jobs
// that want fewer units take each unit that becomes free.
//
// When the first of the jobs that want the same has waited for CookOptions::overtaken_max, its
// units are *reserved*: of the farm, and on the machine where the fewest units are missing. Other
// jobs may take only units beyond the reservation. More urgent jobs still go before it, until its
// job has waited for overtaken_by_urgent_max; Blocking jobs always do. There is one reservation at
// a time, so no two jobs wait for each other. The reservation ends when its job is handed over or
// does not wait any more.
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

// KeptWorker: a worker that gets no other job before this large one (LargeJobs).
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

  // Runs when a step hands jobs over: makes and ends reservations.
  void Look();
  // MayTake: the package does not take units of the farm that are reserved for another package.
  // MayTakeAt: the same for the worker's machine, which must also have the units free.
  bool MayTake(PackageId package) const;
  bool MayTakeAt(PackageId package, WorkerId worker) const;
  // Set by LargeJobs.
  std::optional<KeptWorker>& kept_worker() { return kept_worker_; }
  // True: the worker is kept for another package.
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
