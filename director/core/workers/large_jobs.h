// LargeJobs: a job that no worker has the memory for now is *set aside* while smaller jobs go on;
// when that lasts too long a worker is *kept* for it, and gets nothing else until there is room.
// That holds of one that is parked (Offers), too: it demands something of its worker which smaller
// jobs, that could go elsewhere, do not.
#pragma once

#include <vector>

#include "director/core/jobs/job_part.h"
#include "director/core/packages/costs.h"
#include "director/core/workers/aloneness.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/handing_over.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/kept_worker.h"
#include "director/core/workers/offers.h"
#include "director/core/workers/placing.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/trust.h"

namespace galley::director {

class LargeJobs : JobPart {
 public:
  LargeJobs(const JobGround& ground, Costs& costs, std::optional<KeptWorker>& kept_worker,
            Aloneness& aloneness, Offers& offers, Reservations& reservations, Trust& trust,
            Placing& placing, JobQueue& job_queue, HandingOver& handing_over, Faults& faults,
            Survivors& survivors)
      : JobPart(ground),
        costs_(costs),
        kept_worker_(kept_worker),
        aloneness_(aloneness),
        offers_(offers),
        reservations_(reservations),
        trust_(trust),
        placing_(placing),
        job_queue_(job_queue),
        handing_over_(handing_over),
        faults_(faults),
        survivors_(survivors) {}

  // False: the package is to wait at the head of its queue.
  bool SetAside(PackageId package, std::vector<PackageId>& aside);
  // A step hands jobs over: of what is parked, the first of each kind may have waited too long.
  // O(workers with room) for each kind.
  void LookAtParked();
  // The job that a worker is kept for goes there before all others.
  void HandOverKept();

 private:
  void NoteOvertaken(PackageId package);
  bool IsHeldUpByMemory(PackageId package) const;
  void KeepWorkerFor(PackageId package);
  bool MayBeKeptFor(PackageId package, WorkerId id, const Worker& worker) const;

  Costs& costs_;
  std::optional<KeptWorker>& kept_worker_;
  Aloneness& aloneness_;
  Offers& offers_;
  Reservations& reservations_;
  Trust& trust_;
  Placing& placing_;
  JobQueue& job_queue_;
  HandingOver& handing_over_;
  Faults& faults_;
  Survivors& survivors_;
};

}  // namespace galley::director
