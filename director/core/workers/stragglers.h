// Stragglers: near the end, a job that runs for too long gets a second attempt (a *backup*) on an
// idle worker. The first result wins, and the other attempt is cancelled when the first result is
// durable.
//
// A straggler is a job that takes much longer than expected (overrun_histogram.h), or whose worker
// has not been heard of for a while. A job whose outputs are on their way is no straggler as long
// as some outputs come from its worker: made again, the outputs would have to go the same way. Two
// kinds of packages get no backup: a package that holds a resource, which it would hold twice, and
// a package that failed through its own fault before, which would only kill more executors.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/overrun_histogram.h"
#include "director/core/packages/monitor.h"
#include "director/core/workers/job_handover.h"
#include "director/core/workers/worker_choice.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

class Stragglers : JobPart {
 public:
  struct Deps {
    MachineTable& machines;
    OverrunHistogram& overrun_histogram;
    Attempts& attempts;
    WorkerTrust& worker_trust;
    WorkerChoice& worker_choice;
    JobHandover& job_handover;
  };
  Stragglers(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  // True: some worker is idle, and the last look at all running jobs is long enough ago.
  bool IsTimeToLook();
  void BackUp();
  // An idle worker that may take the attempt's job. `is_elsewhere`: a worker other than the
  // attempt's own.
  WorkerId IdleFor(const Attempt& attempt, bool is_elsewhere) const;
  // The jobs that run for packages of these cooks.
  std::vector<RunningJob> RunningOf(CookMask cooks) const;
  // The job that runs for the longest time.
  void FindLongest(Progress& view) const;

 private:
  bool MayBeBackedUp(AttemptId attempt) const;
  bool IsHopeless(AttemptId attempt) const;
  std::vector<AttemptId> Find() const;
  // The trusted worker where the attempt's job would begin first, whatever other jobs are to be
  // handed over. Invalid: none. O(workers).
  WorkerId BestFor(const Attempt& attempt) const;
  void GiveBackup(PackageId package, WorkerId worker);

  absl::Duration looked_at_ = -absl::InfiniteDuration();

  const Deps deps_;
};

}  // namespace galley::director
