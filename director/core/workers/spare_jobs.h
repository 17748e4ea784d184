// SpareJobs: the jobs of packages that only asks ahead of need want (Urgency::kSpare, asks.h).
//
// Nothing else waits for a spare job. All that decides about other jobs takes a spare job's slot,
// memory and resources for free (AssignedJobs). When another job has been given what a spare job
// has, the spare job is ended on its worker in the same step, whatever class the other job is of:
// the session ends the executor, and begins the other job there. At most so many are ended as other
// jobs need. Nobody is to blame for the end of such a job: its package is ready again.
//
//   Sort            jobs whose packages became spare, or are spare no longer
//   FreeResources   ends spare jobs that hold resources for which other jobs wait, if these can
//                   begin then. While others wait for a resource, no spare job takes it
//   MakeWay         ends spare jobs whose slots or memory other jobs have been given
//   HandOver        hands spare jobs over to slots that are free, while no other job is ready
//
// To end a job costs its worker an executor, which the other job waits for. So a slot without a
// spare job is preferred for other jobs; one slot stays free where there are several, so that the
// next claim finds an executor that runs; and none is handed over within kQuiet after another job,
// since small jobs of a cook come one after the other.
//
// A spare job never waits at a worker, and none is handed over beside a job that runs alone. It is
// no part of the class quota, asks for no workers on other machines, and is neither moved, divided
// nor made a second time. A package that is to run alone (exclusive_run.h) is handed over while
// there is no other job at all; then no other spare job is handed over beside it, and it is ended
// when any other job is.
//
// Cost: O(spare jobs) for each step; HandOver O(kLooksMax * kIdleLooksMax) at most; FreeResources
// O(waiting groups * (workers + jobs that hold resources)) while a spare job holds a resource.
// Threads: none; owned by its layer.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/grants.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/packages/costs.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/faults.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/job_handover.h"
#include "director/core/workers/job_queue.h"
#include "director/core/workers/parked_jobs.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/survivors.h"
#include "director/core/workers/worker_choice.h"

namespace galley::director {

class SpareJobs : JobPart {
 public:
  // In a step: so many ready packages are looked at, and for each so many workers with free slots.
  static constexpr size_t kLooksMax = 64, kIdleLooksMax = 64;
  static constexpr absl::Duration kQuiet = absl::Milliseconds(200);

  struct Deps {
    Costs& costs;
    Grants& grants;
    Attempts& attempts;
    PackageProgress& package_progress;
    HeldResults& held_results;
    Eligibility& eligibility;
    Reservations& reservations;
    WorkerChoice& worker_choice;
    ParkedJobs& parked_jobs;
    JobQueue& job_queue;
    JobHandover& job_handover;
    Faults& faults;
    Survivors& survivors;
  };
  SpareJobs(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  void Sort();
  // True: some job was ended.
  bool FreeResources();
  void MakeWay();
  void HandOver();
  // Ends all spare jobs: another job is to run alone.
  void EndAll();
  // True: some spare package is ready to be handed over.
  bool IsAnyReady() const { return graph_.queues().loads().size() > ReadyOthers(); }

 private:
  size_t ReadyOthers() const { return graph_.queues().loads().wanted_size(); }
  void SortAttempt(AttemptId attempt, bool is_spare);
  void TakeBack(AttemptId attempt);
  void End(AttemptId attempt);
  std::vector<AttemptId> Alone() const;
  std::vector<AttemptId> Holding() const;
  bool CanHaveResources(PackageId package) const;
  bool DoShare(uint32_t group, uint32_t other) const;
  std::vector<AttemptId> InTheWayOf(PackageId package) const;
  std::vector<PackageId> WaitingForResources() const;
  bool IsSlotLeft() const;
  bool CannotGoAnywhere(PackageId package);
  WorkerId Choose(PackageId package) const;
  WorkerId ChooseAgain(PackageId package) const;

  const Deps deps_;
};

}  // namespace galley::director
