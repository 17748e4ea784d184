// DecisionDigest: a hash over all effects of a core, with their times. Two cores that get the same
// events decide alike when their digests are the same. Compares, seed by seed, a change that should
// move code and leave decisions alone (scripts/test --sim SEEDS --sim-decisions).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>

#include "absl/time/time.h"
#include "common/base/fnv.h"
#include "director/core/effects.h"

namespace galley::simulation {

class DecisionDigest {
 public:
  // Adds the effects of a step, in order.
  void Add(absl::Time now, std::span<const director::Effect> effects);
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = kFnvBasis;
};

// Whether people want to see the digests.
inline bool AreDecisionsShown() { return std::getenv("GALLEY_SIM_DECISIONS") != nullptr; }

}  // namespace galley::simulation
