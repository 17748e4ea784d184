// Fleet: how many workers there are to be, and which workers may go.
//
// On this machine as many workers as CookOptions::workers says are kept while there is work. On
// other machines as many workers are kept as the work is worth, within FleetOptions: a further
// worker is asked for when each worker has work for kWorthStarts times the time that a worker takes
// to start, and never more workers than jobs are ready. While jobs are ready, at least one worker
// is asked for. Jobs that wait for units of machines, all of which are held, ask for as many
// further machines as the jobs could keep busy. No further machines are asked for while an idle
// worker could do the jobs, so that further machines seem to bring nothing. A worker that was idle
// for idle_max ends, but for as many as are wanted; so the number of workers does not follow each
// lull.
//
// Helpers are workers of this machine beside such a fleet: helpers come when packages wait that
// launched workers cannot cook (Eligibility), and go like the others.
//
// Cost: Keep O(cooks + cookers that wait), O(workers) while a job waits for units of machines;
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

  struct Deps {
    Grants& grants;
    HeldResults& held_results;
    Eligibility& eligibility;
    WorkerLoss& worker_loss;
    ParkedJobs& parked_jobs;
    JobQueue& job_queue;
  };
  Fleet(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  // Asks for the workers that are missing. REQUIRES: there is work.
  void Keep();
  void LetIdleGo();
  StartFailures& start_failures() { return start_failures_; }
  // The most workers that the core asks for.
  uint32_t most() const;

 private:
  uint32_t Wanted();
  uint32_t FurtherMachines();
  bool IsNobodyThere() const;  // there is no launched worker, or all are about to go
  bool IsAnyIdleFor(PackageId package) const;
  uint32_t Busy() const;
  uint32_t HelpersWanted() const;
  void SpawnUpTo(Pool pool, uint32_t count);

  // Groups (Grants) that jobs wait for, and for which further machines bring nothing.
  absl::btree_set<uint32_t> in_vain_;
  absl::Duration looked_at_ = -absl::InfiniteDuration();  // of LetIdleGo
  StartFailures start_failures_;

  const Deps deps_;
};

}  // namespace galley::director
