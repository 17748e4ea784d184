// The numbers of a store.
#pragma once

#include "absl/status/statusor.h"
#include "common/store/interface/store.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

// The sizes that the index and the names of segments tell. Commits what is pending, if there is
// room for it.
absl::StatusOr<StoreStats> SizesOf(StoreParts& store);
// Store::Stats.
absl::StatusOr<StoreStats> StatsOf(StoreParts& store, const StatsOptions& options);

}  // namespace galley::store
