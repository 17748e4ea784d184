// StepContext: the time of the present step, and the project as it is known now.
//
// Core sets the times, LostBlobRepair looks_for_lost, and ProjectChanges the rest. All parts read
// it.
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/time/time.h"
#include "director/core/catalog.h"
#include "director/core/packages/platforms.h"

namespace galley::director {

struct StepContext {
  absl::Time now = absl::InfinitePast();
  // Waking time: the sum of the times between steps, each cut to silence_max / 8. So a pause of the
  // whole machine is no silence of its workers.
  absl::Duration awake;
  std::shared_ptr<const Catalog> catalog;
  uint32_t epoch = 1;  // of the catalog
  uint32_t platform_count = 1;
  PlatformSets platform_sets;
  uint64_t looks_for_lost = 0;  // LookForLost sent so far
};

}  // namespace galley::director
