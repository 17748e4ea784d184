// Stragglers: near the end of a cook, a job that runs for too long gets a second attempt, a
// *backup*, on an idle worker. The first result wins; the other attempt is cancelled when that
// result is durable.
//
// A straggler is a job that takes much longer than expected (overrun_histogram.h), or whose worker
// is suspect or doubtful (worker_trust.h). An uploading job is no straggler while its worker
// reports on such jobs: outputs made again would have to be uploaded, too. No backup is given to a
// package that holds a resource, which it would hold twice, or that has own faults, since it might
// kill more executors.
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

  // True: some worker is idle, and the last look at the running jobs was long enough ago.
  bool IsTimeToLook();
  void BackUp();
  // An idle worker that may take the attempt's job; invalid: none. `is_elsewhere`: not the
  // attempt's own worker.
  WorkerId IdleFor(const Attempt& attempt, bool is_elsewhere) const;
  // The jobs that run for packages of these cooks.
  std::vector<RunningJob> RunningOf(CookMask cooks) const;
  // Sets `longest`, `longest_for` and `is_alone`.
  void FindLongest(Progress& view) const;

 private:
  bool MayBeBackedUp(AttemptId attempt) const;
  bool IsHopeless(AttemptId attempt) const;
  std::vector<AttemptId> Find() const;
  // The trusted worker where the attempt's job would begin first, also beyond its window. Invalid:
  // none. O(workers).
  WorkerId BestFor(const Attempt& attempt) const;
  void GiveBackup(PackageId package, WorkerId worker);

  absl::Duration looked_at_ = -absl::InfiniteDuration();

  const Deps deps_;
};

}  // namespace galley::director
