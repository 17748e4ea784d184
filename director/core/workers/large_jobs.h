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
  struct Deps {
    Costs& costs;
    ExclusiveRun& exclusive_run;
    Eligibility& eligibility;
    Reservations& reservations;
    WorkerTrust& worker_trust;
    WorkerChoice& worker_choice;
    JobQueue& job_queue;
    JobHandover& job_handover;
    Faults& faults;
    Survivors& survivors;
  };
  LargeJobs(const JobGround& ground, const Deps& deps)
      : JobPart(ground), deps_(deps), kept_worker_(deps.reservations.kept_worker()) {}

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

  const Deps deps_;
  std::optional<KeptWorker>& kept_worker_;
};

}  // namespace galley::director
