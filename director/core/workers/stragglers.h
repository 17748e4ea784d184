// Stragglers: near the end, a job that runs for too long gets a second attempt (a *backup*) on a
// worker that has nothing to do. The first result wins, and the other attempt is cancelled when
// that result is durable.
//
// A straggler is a job that takes much longer than expected (overruns.h), or whose worker has not
// been heard of for a while. One whose outputs are on their way is none as long as some come from
// its worker: made again, they would have to go the same way. Not backed up are a package that
// holds a resource, which it would hold twice, and a package that failed through its own fault
// before, which would only kill more executors.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/overruns.h"
#include "director/core/packages/monitor.h"
#include "director/core/workers/handing_over.h"
#include "director/core/workers/placing.h"
#include "director/core/workers/trust.h"

namespace galley::director {

class Stragglers : JobPart {
 public:
  Stragglers(const JobGround& ground, MachineTable& machines, Overruns& overruns,
             Attempts& attempts, Trust& trust, Placing& placing, HandingOver& handing_over)
      : JobPart(ground),
        machines_(machines),
        overruns_(overruns),
        attempts_(attempts),
        trust_(trust),
        placing_(placing),
        handing_over_(handing_over) {}

  // Somebody has nothing to do, and the last look at all that runs is long enough ago.
  bool IsTimeToLook();
  void BackUp();
  // An idle worker that may take what the attempt has. `is_elsewhere`: not its own worker.
  WorkerId IdleFor(const Attempt& attempt, bool is_elsewhere) const;
  // The jobs that run for packages of these cooks.
  std::vector<RunningJob> RunningOf(CookMask cooks) const;
  // The job that runs for the longest time.
  void FindLongest(Progress& view) const;

 private:
  bool MayBeBackedUp(AttemptId attempt) const;
  bool IsHopeless(AttemptId attempt) const;
  std::vector<AttemptId> Find() const;
  // The trusted worker where what the attempt has would begin first, whatever else is to be handed
  // over. Invalid: none. O(workers).
  WorkerId BestFor(const Attempt& attempt) const;
  void GiveBackup(PackageId package, WorkerId worker);

  absl::Duration looked_at_ = -absl::InfiniteDuration();

  MachineTable& machines_;
  Overruns& overruns_;
  Attempts& attempts_;
  Trust& trust_;
  Placing& placing_;
  HandingOver& handing_over_;
};

}  // namespace galley::director
