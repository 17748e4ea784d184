// CheckFiles: checks that the files of an open store are still the files that its owner has
// written.
//
// Threads: any.
#pragma once

#include "absl/status/status.h"
#include "common/store/local/live_index.h"
#include "common/store/local/store_folder.h"

namespace galley::store {

// See StoredFiles::CheckFiles. Ignores segments that the index knows to be gone or cut.
absl::Status CheckFiles(const StoreFolder& folder, LiveIndex& index);

}  // namespace galley::store
