// PlacementCandidate: a worker that may take a job, when a worker is chosen for it.
//
// The job goes where it probably ends first: to the worker with the least expected time for each
// slot, less the time that warm inputs save the job there. While some worker has a free slot, the
// job waits for another worker only if it ends sooner there. While no slot is free, the job may
// wait for warm inputs by half the least load longer: no worker is idle meanwhile, and a job that
// waits too long at the end is moved (load_balancer.h). Of free slots, one that no spare job has is
// preferred.
// Threads: none.
#pragma once

#include <cstddef>
#include <span>

#include "absl/time/time.h"
#include "director/core/ids.h"

namespace galley::director {

// The most candidates for one package.
inline constexpr size_t kCandidatesMax = 16;

struct PlacementCandidate {
  WorkerId worker;
  absl::Duration load;          // expected time of its jobs, for each slot
  absl::Duration delay;         // until the job would begin; zero: a slot is free
  absl::Duration saved;         // of the job's time, by warm inputs
  double warm = 0;              // share of the job's inputs that are warm there, 0 to 1
  bool is_large_enough = true;  // its memory is enough for the job alone
  bool ends_spare = false;      // the job would take the slot of a spare job (spare_jobs.h)
};

// O(candidates). REQUIRES: there is a candidate.
const PlacementCandidate& ChooseCandidate(std::span<const PlacementCandidate> candidates);

}  // namespace galley::director
