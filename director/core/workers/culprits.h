// Culprits: retries and fails the packages that may kill their executors or workers (killings.h).
//
// Their failure is neither a verdict nor a limit: it is not kept, and the next cook tries again.
#pragma once

#include <string>
#include <vector>

#include "director/core/jobs/attempt.h"
#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/machine_table.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/packages/killings.h"
#include "director/core/workers/faults.h"

namespace galley::director {

class Culprits : JobPart {
 public:
  Culprits(const JobGround& ground, MachineTable& machines, Attempts& attempts,
           PackageProgress& package_progress, Faults& faults)
      : JobPart(ground),
        machines_(machines),
        attempts_(attempts),
        package_progress_(package_progress),
        faults_(faults) {}

  // The attempt's executor or program was killed. The package fails, or is tried again with a
  // back-off, on another machine first.
  void OnKilled(AttemptId id, const WorkerReport::Failed& failed, PlatformMask platforms);
  // The attempt ran on a worker that was lost. True: the package failed. REQUIRES: the attempt is
  // ended.
  bool OnWorkerLost(AttemptId id, const Attempt& attempt, const std::string& reason);
  // No worker can take the package now. True: it is a suspect, and backs off, so that it does not
  // hold up the jobs behind it.
  bool PutOff(PackageId package);

 private:
  void AddDeath(const Attempt& attempt, Killings::What what);
  bool Fail(AttemptId id, PackageId package, PlatformMask platforms,
            const WorkerReport::Failed& failed);
  bool HasOthers() const;
  std::string Text(const std::vector<Killings::Place>& places, const std::string& error) const;

  MachineTable& machines_;
  Attempts& attempts_;
  PackageProgress& package_progress_;
  Faults& faults_;
};

}  // namespace galley::director
