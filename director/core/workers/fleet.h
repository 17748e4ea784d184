// Fleet: decides how many workers are started, and which idle workers end.
//
// On this machine, CookOptions::workers are kept while there is work. On other machines, the number
// of workers follows the work, within FleetOptions: each worker must have work for kWorthStarts
// times the time that a worker takes to start, and no more workers are asked for than the jobs that
// are ready or in hand can fill. While jobs are ready, at least one worker is asked for. Jobs that
// wait for resources of machines, all of which are held, ask for as many further machines as they
// could keep busy; but not while an idle worker could do them, since further machines seem useless
// then. A worker that was idle for idle_max ends, if more than the wanted number are there. So the
// number of workers does not follow each lull. What somebody asks for now (asks.h) is work like
// that of cooks; beyond that, as many idle workers stay as the packages could keep busy for which
// somebody waits.
//
// Spare jobs, which only asks ahead of need want, ask for no workers on other machines, and a
// worker that has nothing else counts as idle.
//
// *Helpers* are workers of this machine beside a fleet. They are started when packages wait that
// launched workers cannot cook (Eligibility), and end when idle.
//
// Cost: Keep O(cooks + parking queues), O(workers) while a job waits for a machine's resources;
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
  // Asks for the workers of this machine alone.
  void KeepLocal();
  void LetIdleGo();
  StartFailures& start_failures() { return start_failures_; }
  // The most workers that the core may ask for.
  uint32_t most() const;

 private:
  uint32_t Wanted();
  uint32_t AwaitedByAsks() const;
  uint32_t FurtherMachines();
  bool IsNobodyThere() const;  // no launched worker, or all are draining
  bool IsAnyIdleFor(PackageId package) const;
  uint32_t Busy() const;
  uint32_t HelpersWanted() const;
  void SpawnUpTo(Pool pool, uint32_t count);

  // Groups (Grants) whose jobs wait, and for which further machines seem useless.
  absl::btree_set<uint32_t> in_vain_;
  absl::Duration looked_at_ = -absl::InfiniteDuration();  // of LetIdleGo
  StartFailures start_failures_;

  const Deps deps_;
};

}  // namespace galley::director
