// Fleet: how many workers there are to be, and which of them may go.
//
// On this machine as many as CookOptions::workers says are kept while there is work. On others, as
// FleetOptions says, as many as the work is worth: a further worker is asked for when each of them
// has kWorthStarts times to do what it takes to start one, and never more than there are jobs ready
// for. One is asked for whenever some are ready. What waits for units of machines, all of which are
// held, asks for as many further machines as it could keep busy; but for no more while a worker has
// nothing to do that could do it, so that further ones seem to bring none. A worker that had
// nothing to do for idle_max ends, but for as many as are wanted; so the number does not follow
// each lull.
//
// Helpers are workers of this machine beside such a fleet: they come when packages wait that those
// elsewhere cannot cook (Eligibility), and go like the others.
//
// Cost: Keep O(cooks + cookers that wait), O(workers) while something waits for units of machines;
// LetIdleGo O(workers), once a second.
// Threads: none.
#pragma once

#include <cstdint>

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "director/core/ids.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/parked_jobs.h"
#include "director/core/workers/start_failures.h"
#include "director/core/workers/worker_loss.h"

namespace galley::director {

class Fleet : JobPart {
 public:
  static constexpr int kWorthStarts = 10;

  Fleet(const JobGround& ground, Grants& grants, HeldResults& held_results,
        Eligibility& eligibility, WorkerLoss& worker_loss, ParkedJobs& parked_jobs,
        JobQueue& job_queue)
      : JobPart(ground),
        grants_(grants),
        held_results_(held_results),
        eligibility_(eligibility),
        worker_loss_(worker_loss),
        parked_jobs_(parked_jobs),
        job_queue_(job_queue) {}

  // Asks for the workers that are missing. REQUIRES: there is work.
  void Keep();
  void LetIdleGo();
  StartFailures& start_failures() { return start_failures_; }
  // So many workers the core asks for at most.
  uint32_t most() const;

 private:
  uint32_t Wanted();
  uint32_t FurtherMachines();
  bool IsNobodyThere() const;  // no launched worker, or such that are about to go
  bool IsAnyIdleFor(PackageId package) const;
  uint32_t Busy() const;
  uint32_t HelpersWanted() const;
  void SpawnUpTo(Pool pool, uint32_t count);

  // Groups (Grants) of which further machines bring nothing, of those that are waited for.
  absl::btree_set<uint32_t> in_vain_;
  absl::Duration looked_at_ = -absl::InfiniteDuration();  // LetIdleGo
  StartFailures start_failures_;

  Grants& grants_;
  HeldResults& held_results_;
  Eligibility& eligibility_;
  WorkerLoss& worker_loss_;
  ParkedJobs& parked_jobs_;
  JobQueue& job_queue_;
};

}  // namespace galley::director
