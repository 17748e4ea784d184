// StoreStats: the sizes and counts of a store.
#pragma once

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

// Returns the sizes by the index and the list of segments. Commits the pending blobs, if there is
// space.
absl::StatusOr<StoreStats> SizesOf(StoreParts& store);
// See StoreAdmin::Stats.
absl::StatusOr<StoreStats> StatsOf(StoreParts& store, const StatsOptions& options);

}  // namespace galley::store
