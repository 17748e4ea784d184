// WorkerChoice: chooses a worker for a job, among a few that may take it (placement_candidate.h). A
// Blocking job goes where it begins first, also beyond windows. A suspect worker gets only jobs
// that no other worker can do; with such a job, it either answers or is lost after silence_max.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "director/core/jobs/attempt.h"
#include "director/core/jobs/job_part.h"
#include "director/core/packages/costs.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/input_affinity.h"
#include "director/core/workers/placement_candidate.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/suspects.h"
#include "director/core/workers/worker_trust.h"

namespace galley::director {

class WorkerChoice : JobPart {
 public:
  struct Deps {
    const Costs& costs;
    const InputAffinity& input_affinity;
    const Eligibility& eligibility;
    const Reservations& reservations;
    const WorkerTrust& worker_trust;
    Attempts& attempts;
    ExclusiveRun& exclusive_run;
  };
  WorkerChoice(const JobGround& ground, const Deps& deps)
      : JobPart(ground), deps_(deps), suspects_(ground, deps.attempts, deps.exclusive_run) {}

  Placement Place(PackageId package) const;
  // A worker with waiting jobs, where the package, with this urgency, goes before jobs of lower
  // classes. Invalid: none. O(workers).
  WorkerId PlaceBefore(PackageId package, Urgency urgency) const;
  bool MayTake(PackageId package, WorkerId id, const Worker& worker) const;
  // True: the worker's machine failed the package, and a worker on another machine may take it.
  // O(workers) if the machine failed the package.
  bool IsBetterElsewhere(PackageId package, const Worker& worker) const;
  // True: some worker that can do the package's job is on a machine that has not failed it.
  // O(workers).
  bool IsUntriedAnywhere(PackageId package) const;
  absl::Duration SavedAt(PackageId package, WorkerId worker) const;
  // `warm`: the share of the package's inputs that are warm there.
  PlacementCandidate ViewOf(PackageId package, WorkerId id, const Worker& worker,
                            double warm) const;
  // The inputs that the package is known to read beside its source.
  std::vector<uint64_t> InputsOf(PackageId package) const;

 private:
  std::vector<PlacementCandidate> Lightest(PackageId package) const;
  WorkerId PlaceElsewhere(PackageId package) const;
  WorkerId PlaceBlocking(PackageId package) const;
  WorkerId PlaceAtSuspect(PackageId package) const;
  absl::Duration LoadTimeOf(PackageId package) const;

  const Deps deps_;
  Suspects suspects_;
};

}  // namespace galley::director
