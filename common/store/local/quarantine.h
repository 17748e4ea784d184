// Quarantine: where wrong bytes go, kept for a look while there is room.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::store {

inline constexpr size_t kQuarantineFilesMax = 10'000;

// What lies there in the blob's place: a file is moved, of a segment's record a copy is made. One
// that is gone leaves an empty note.
absl::Status MoveToQuarantine(const std::string& store_directory, const Digest& digest,
                              const BlobLocation& location);

// Until that is left at most the oldest go.
absl::Status TrimQuarantine(const std::string& store_directory, uint64_t bytes_max,
                            size_t files_max);

}  // namespace galley::store
