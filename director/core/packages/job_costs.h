// Job costs: the expected time and memory of a package's job, from the package's last cooks and
// from the measurements of its cooker (Costs).
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_data.h"

namespace galley::director {

// The expected time of the platforms that are to be cooked. A platform without a known time counts
// as the mean of the other platforms.
absl::Duration CostOf(const PackageData& package, const Costs& costs);

// The memory peak of the last cook, or else the peak guessed from the cooker's jobs, in bytes; at
// most the package's limit. REQUIRES: the package is in the works.
uint64_t MemoryOf(const PackageData& package, const Costs& costs);

}  // namespace galley::director
