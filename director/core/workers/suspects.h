// Suspects: lets one suspect at a time run on a machine (killings.h).
// Threads: none; owned by WorkerChoice.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/job_part.h"
#include "director/core/packages/killings.h"
#include "director/core/workers/exclusive_run.h"

namespace galley::director {

class Suspects : JobPart {
 public:
  Suspects(const JobGround& ground, Attempts& attempts, ExclusiveRun& exclusive_run)
      : JobPart(ground), attempts_(attempts), exclusive_run_(exclusive_run) {}

  // True: another suspect is to run on the worker's machine, or runs there. O(suspects).
  bool IsKeptFrom(PackageId package, const Worker& worker) const;

 private:
  bool HoldsItsTurn(PackageId turn, PackageId package) const;
  bool IsInHandAt(PackageId package, Killings::Machine machine) const;

  Attempts& attempts_;
  ExclusiveRun& exclusive_run_;
};

}  // namespace galley::director
