// StepContext: the time of the present step, and the project as the step sees it.
//
// Core sets the time, LostBlobRepair counts its looks, and ProjectChanges sets the rest. All parts
// read them here.
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
  // The time that this process lived through: a pause of the whole machine is no silence of its
  // workers.
  absl::Duration awake;
  std::shared_ptr<const Catalog> catalog;
  uint32_t epoch = 1;  // of the catalog
  uint32_t platform_count = 1;
  PlatformSets platform_sets;
  uint64_t looks_for_lost = 0;  // LookForLost sent so far
};

}  // namespace galley::director
