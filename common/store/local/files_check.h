// CheckFiles: whether the files of a store that is open are still those that its owner has written.
//
// Threads: any.
#pragma once

#include "absl/status/status.h"
#include "common/store/local/live_index.h"
#include "common/store/local/store_folder.h"

namespace galley::store {

// The check does what StoredFiles::CheckFiles says. Segments that the index knows to be gone or cut
// are none of it.
absl::Status CheckFiles(const StoreFolder& folder, LiveIndex& index);

}  // namespace galley::store
