// Job costs: the expected time and memory of a package's job, from the package's last cooks and
// from the measurements of its cooker (Costs).
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_data.h"

namespace galley::director {

// The expected time of the platforms that are to be cooked; a platform of which nothing is known
// counts as the mean of the other platforms.
absl::Duration CostOf(const PackageData& package, const Costs& costs);

// The memory peak of the last cook, or the measured peak of the cooker's jobs; at most the memory
// that the job may take. REQUIRES: the package is in the works.
uint64_t MemoryOf(const PackageData& package, const Costs& costs);

}  // namespace galley::director
