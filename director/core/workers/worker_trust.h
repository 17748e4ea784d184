// WorkerTrust: which workers are *doubtful*, and which jobs a doubtful worker may still be given.
//
// A worker is doubtful while the last job of the worker or of its machine was a fault (breaker.h),
// or while it is *slow*: jobs take kSlow times as long there as elsewhere (pace.h), or one of its
// jobs runs for far too long (OverrunHistogram::FarLimit). If most workers seem slow, the expected
// times are wrong, and none counts as slow. A doubtful worker gets a job only if the job could be
// made there, and then again at a trusted worker, before the trusted workers have done all work
// that is left. So no cook waits for a doubtful worker at the end. Jobs that only doubtful workers
// can do go to them.
//
// The jobs that wait at a worker when it becomes slow go to other workers.
//
// Cost: Look O(workers + running jobs), ten times a second; MayTake O(workers) for a doubtful
// worker, else O(1).
// Threads: none; owned by its layer.
#pragma once

#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/job_returns.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/overrun_histogram.h"
#include "director/core/packages/costs.h"
#include "director/core/workers/eligibility.h"

namespace galley::director {

class WorkerTrust : JobPart {
 public:
  static constexpr double kSlow = 3;

  struct Deps {
    Costs& costs;
    MachineTable& machines;
    OverrunHistogram& overrun_histogram;
    Attempts& attempts;
    Eligibility& eligibility;
    JobReturns& job_returns;
  };
  WorkerTrust(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  // Finds the doubtful workers, ten times a second. True: it has looked just now, and some are.
  bool Look();
  // The breaker of the worker or of its machine has counted a fault or a success.
  void NoteJudged(WorkerId worker);
  void NoteLost(WorkerId worker) {
    doubtful_.erase(worker);
    slow_.erase(worker);
  }
  // True: some trusted worker has room or, if no worker is trusted, any worker has.
  bool HasRoom() const;
  bool IsDoubtful(WorkerId worker) const { return doubtful_.contains(worker); }
  bool MayTake(PackageId package, WorkerId id, const Worker& worker) const;
  // By which factor jobs take longer at the worker than elsewhere; at least 1.
  double PaceOf(const Worker& worker) const;
  // True: the worker is slow.
  bool IsSlow(WorkerId worker) const { return slow_.contains(worker); }

 private:
  void NoteRunning();
  bool HasReason(WorkerId id) const;
  double LatenessOf(const Worker& worker) const;
  bool CanTrustedDo(PackageId package) const;
  // The time that the trusted workers need for all work that is left.
  absl::Duration Left() const;

  absl::btree_set<WorkerId> doubtful_;  // attached
  // Doubtful for their pace, or for a job that runs for far too long.
  absl::btree_set<WorkerId> slow_;
  absl::Duration looked_at_ = -absl::InfiniteDuration();

  const Deps deps_;
};

}  // namespace galley::director
