// Policy: where a ready package goes. The core shows a policy a few of the workers that may take
// the job; the policy picks one.
//
//   cost     the worker where the job ends first: the least expected time for each slot, less what
//            it saves to find its inputs warm. While a slot is free somewhere, it waits for none
//            unless it ends sooner all the same. While all have work, a job may wait half as long
//            again as it would elsewhere for the sake of warm inputs: nobody idles for it, and what
//            waits too long at the end is moved (balancing.cc).
//   striped  packages are dealt to the workers by a hash of their names, whatever they cost. For
//            comparison (tests/bench/makespan.cc), and for workers that share no warmth at all.
//
// Cost: Choose O(views).
// Threads: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/time/time.h"
#include "director/core/core_options.h"
#include "director/core/ids.h"

namespace galley::director {

// The most workers that are shown for one package.
inline constexpr size_t kWorkersShownMax = 16;

struct PlacementCandidate {
  WorkerId worker;
  absl::Duration load;          // expected time of what is in its hands, for each slot
  absl::Duration delay;         // until the job would begin; zero: a slot is free
  absl::Duration saved;         // of this job's time, since inputs are warm there
  double warm = 0;              // of its inputs: 0 .. 1
  bool is_large_enough = true;  // the job alone fits into its memory
};

class Policy {
 public:
  // Which workers are shown: those with the least load and those where inputs are warm, or the next
  // with room from a place on that is the package's own (the order is that of ids).
  enum class Shown : uint8_t { kLightestAndWarm, kFromItsPlace };

  virtual ~Policy() = default;
  virtual Shown shown() const = 0;
  // An index into `workers`. REQUIRES: not empty.
  virtual size_t Choose(std::span<const PlacementCandidate> workers) const = 0;
};

std::unique_ptr<Policy> MakePolicy(PlacementPolicy policy);

}  // namespace galley::director
