// LargeJobs: a job that no worker has the memory for now is *set aside* while smaller jobs go on.
// When the wait lasts too long a worker is *kept* for the job, and gets no other job until there is
// room. A parked job (Eligibility) gets a kept worker, too: such a job demands something of its
// worker that smaller jobs, which could go to other workers, do not demand.
#pragma once

#include <vector>

#include "director/core/jobs/job_part.h"
#include "director/core/packages/costs.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/exclusive_run.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/job_handover.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/worker_choice.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

class LargeJobs : JobPart {
 public:
  LargeJobs(const JobGround& ground, Costs& costs, ExclusiveRun& exclusive_run,
            Eligibility& eligibility, Reservations& reservations, WorkerTrust& worker_trust,
            WorkerChoice& worker_choice, JobQueue& job_queue, JobHandover& job_handover,
            Faults& faults, Survivors& survivors)
      : JobPart(ground),
        costs_(costs),
        kept_worker_(reservations.kept_worker()),
        exclusive_run_(exclusive_run),
        eligibility_(eligibility),
        reservations_(reservations),
        worker_trust_(worker_trust),
        worker_choice_(worker_choice),
        job_queue_(job_queue),
        job_handover_(job_handover),
        faults_(faults),
        survivors_(survivors) {}

  // False: the package is to wait at the head of its queue.
  bool SetAside(PackageId package, std::vector<PackageId>& aside);
  // A step hands jobs over: the first parked job of each kind may have waited too long. O(workers
  // with room) for each kind.
  void LookAtParked();
  // Hands the job that a worker is kept for to that worker before all other jobs.
  void HandOverKept();

 private:
  void NoteOvertaken(PackageId package);
  bool IsHeldUpByMemory(PackageId package) const;
  void KeepWorkerFor(PackageId package);
  bool MayBeKeptFor(PackageId package, WorkerId id, const Worker& worker) const;

  Costs& costs_;
  std::optional<KeptWorker>& kept_worker_;
  ExclusiveRun& exclusive_run_;
  Eligibility& eligibility_;
  Reservations& reservations_;
  WorkerTrust& worker_trust_;
  WorkerChoice& worker_choice_;
  JobQueue& job_queue_;
  JobHandover& job_handover_;
  Faults& faults_;
  Survivors& survivors_;
};

}  // namespace galley::director
