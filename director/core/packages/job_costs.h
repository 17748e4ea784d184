// Job costs: what the job of a package is expected to take, from what its last cooks took and from
// what was measured of its cooker (Costs).
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_data.h"

namespace galley::director {

// The expected time of the platforms that are to be cooked; a platform of which nothing is known is
// taken for the mean of the others.
absl::Duration CostOf(const PackageData& package, const Costs& costs);

// The last cook's peak, or what this cook measured of its kind; not more than the job may take.
// REQUIRES: the package is in the works.
uint64_t MemoryOf(const PackageData& package, const Costs& costs);

}  // namespace galley::director
