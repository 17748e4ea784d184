// WriteAnew: puts a synced copy of a file in its place, by a rename. A sync of the old one may have
// failed, so that a later one says nothing; the copy's pages are its own.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace galley::store {

// The name is not synced: that is the caller's. `sync` as in LocalStoreOptions. RESOURCE_EXHAUSTED:
// there is no space for a second one. After an error the old one lies there as it was.
absl::Status WriteAnew(const std::string& store_directory, const std::string& path,
                       const std::function<int(int)>& sync, uint64_t free_bytes_margin);
// The same with the bytes of another file, `from`.
absl::Status WriteAnewFrom(const std::string& store_directory, const std::string& from,
                           const std::string& path, const std::function<int(int)>& sync,
                           uint64_t free_bytes_margin);

}  // namespace galley::store
