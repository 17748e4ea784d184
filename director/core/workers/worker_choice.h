// WorkerChoice: the worker that gets a job is chosen among a few that may take it
// (placement_candidate.h). A Blocking job goes where it begins first, windows or not. A suspect
// worker gets only what no other can do: it answers, or is lost for what it holds.
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
  WorkerChoice(const JobGround& ground, const Costs& costs, const InputAffinity& input_affinity,
               const Eligibility& eligibility, const Reservations& reservations,
               const WorkerTrust& worker_trust, Attempts& attempts, ExclusiveRun& exclusive_run)
      : JobPart(ground),
        costs_(costs),
        input_affinity_(input_affinity),
        eligibility_(eligibility),
        reservations_(reservations),
        worker_trust_(worker_trust),
        suspects_(ground, attempts, exclusive_run) {}

  Placement Place(PackageId package) const;
  // A worker where the package, with that urgency, comes before jobs of lower classes that wait.
  // Invalid: none. O(workers).
  WorkerId PlaceBefore(PackageId package, Urgency urgency) const;
  bool MayTake(PackageId package, WorkerId id, const Worker& worker) const;
  // The worker's machine failed the package, and another one may take it. O(workers) in that case.
  bool IsBetterElsewhere(PackageId package, const Worker& worker) const;
  // A worker that could take it is on a machine that has not failed it. O(workers).
  bool IsUntriedAnywhere(PackageId package) const;
  absl::Duration SavedAt(PackageId package, WorkerId worker) const;
  // `warm`: the share of what the package reads that is warm there.
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

  const Costs& costs_;
  const InputAffinity& input_affinity_;
  const Eligibility& eligibility_;
  const Reservations& reservations_;
  const WorkerTrust& worker_trust_;
  Suspects suspects_;
};

}  // namespace galley::director
