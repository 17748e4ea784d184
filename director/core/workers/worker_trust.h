// WorkerTrust: which workers are *doubtful*, and which jobs a doubtful worker may still be given.
//
// A worker is doubtful while the last job of the worker or of its machine failed for their sake
// (breaker.h), while jobs take kSlow times as long at the worker as elsewhere (pace.h), and while
// one of its jobs runs for far too long (OverrunHistogram::FarLimit). A doubtful worker works as
// any other as long as there is plenty to do: it gets a job if the job could be made there, and
// then once more at a trusted worker, before the trusted workers have done all work that is left.
// So no cook waits for a doubtful worker at the end. Jobs that only doubtful workers can do go to
// them.
//
// The jobs that wait at a worker when it turns out to be slow go to other workers.
//
// Cost: Look O(workers + running jobs), ten times a second; MayTake O(1) while no worker is
// doubtful, O(workers) else.
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

  // Looks which workers are doubtful, now and then. True: it looked, and some are.
  bool Look();
  // The worker's breaker, or the breaker of its machine, saw a fault or a success.
  void NoteJudged(WorkerId worker);
  void NoteLost(WorkerId worker) {
    doubtful_.erase(worker);
    slow_.erase(worker);
  }
  // Some worker with room is trusted, or all are doubtful.
  bool HasRoom() const;
  bool IsDoubtful(WorkerId worker) const { return doubtful_.contains(worker); }
  bool MayTake(PackageId package, WorkerId id, const Worker& worker) const;
  // How many times as long jobs take at the worker as elsewhere; at least 1.
  double PaceOf(const Worker& worker) const;
  // True: the worker is doubtful for its pace, or for a job that runs for far too long.
  bool IsSlow(WorkerId worker) const { return slow_.contains(worker); }

 private:
  void NoteRunning();
  bool HasReason(WorkerId id) const;
  double LatenessOf(const Worker& worker) const;
  bool CanTrustedDo(PackageId package) const;
  // The time in which the trusted workers do all work that is left.
  absl::Duration Left() const;

  absl::btree_set<WorkerId> doubtful_;  // attached
  // Doubtful for their pace, or for a job that runs for far too long.
  absl::btree_set<WorkerId> slow_;
  absl::Duration looked_at_ = -absl::InfiniteDuration();

  const Deps deps_;
};

}  // namespace galley::director
