// WriteAnew: replaces a file by a synced copy, by a rename. A sync of the old file may have failed,
// so that a later sync proves nothing; the copy has pages of its own.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace galley::store {

// The caller must sync the folder afterwards. `sync`: as in LocalStoreOptions. RESOURCE_EXHAUSTED:
// there is no space for a copy. After an error the old file is unchanged.
absl::Status WriteAnew(const std::string& store_directory, const std::string& path,
                       const std::function<int(int)>& sync, uint64_t free_bytes_margin);
// Like WriteAnew, with the bytes of another file, `from`.
absl::Status WriteAnewFrom(const std::string& store_directory, const std::string& from,
                           const std::string& path, const std::function<int(int)>& sync,
                           uint64_t free_bytes_margin);

}  // namespace galley::store
