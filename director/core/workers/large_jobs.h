// LargeJobs: a job for which no worker has enough free memory now is *set aside*, and smaller jobs
// go on. When it was overtaken for too long, a worker is *kept* for it, which gets no other job
// until there is room. A parked job may get a kept worker, too: few workers meet its demand, and
// jobs without a demand would keep them full.
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

  // Takes the package out of its queue for this step, and appends it to `aside`. False: the package
  // stays at the head of its queue.
  bool SetAside(PackageId package, std::vector<PackageId>& aside);
  // Runs when a step hands jobs over: the first parked job of each kind may have waited too long.
  // O(kinds * workers with room).
  void LookAtParked();
  // Hands the job for which a worker is kept to this worker, before all other jobs.
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
