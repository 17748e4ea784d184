// PlacementCandidate: a worker that may take a job, as seen when a worker is chosen.
//
// The job goes where it ends first: to the worker with the least expected time for each slot, less
// the time that the job saves where its inputs are warm. While a slot is free somewhere, the job
// waits for no worker unless the job ends sooner there all the same. While all workers have work,
// the job may wait half as long again as elsewhere for the sake of warm inputs: no worker idles for
// the job, and a job that waits too long at the end is moved (load_balancer.cc).
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
  absl::Duration load;          // expected time of the jobs in its hands, for each slot
  absl::Duration delay;         // until the job would begin; zero: a slot is free
  absl::Duration saved;         // of the job's time, since inputs are warm there
  double warm = 0;              // share of the job's inputs that is warm there: 0 .. 1
  bool is_large_enough = true;  // the job alone fits into its memory
};

// O(candidates). REQUIRES: there is a candidate.
const PlacementCandidate& ChooseCandidate(std::span<const PlacementCandidate> candidates);

}  // namespace galley::director
