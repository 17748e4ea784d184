// DecisionDigest: a hash over all effects of a core, with their times: two cores that get the same
// events decide alike when it is the same. A change that is to move code and to decide nothing
// otherwise is compared by it, seed by seed (scripts/test --sim SEEDS --sim-decisions).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>

#include "absl/time/time.h"
#include "common/base/fnv.h"
#include "director/core/events.h"

namespace galley::simulation {

class DecisionDigest {
 public:
  // The effects of one step, in order.
  void Add(absl::Time now, std::span<const director::Effect> effects);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = kFnvBasis;
};

// Whether people want to see the digests.
inline bool AreDecisionsShown() { return std::getenv("GALLEY_SIM_DECISIONS") != nullptr; }

}  // namespace galley::simulation
