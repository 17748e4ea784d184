// Quarantine: keeps wrong bytes, while there is room, so that a person can look at them.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::store {

inline constexpr size_t kQuarantineFilesMax = 10'000;

// Moves a blob's wrong file to the quarantine, or copies the wrong record of a segment. If the file
// or record is gone, leaves an empty note.
absl::Status MoveToQuarantine(const std::string& store_directory, const Digest& digest,
                              const BlobLocation& location);

// Removes the oldest files until at most `bytes_max` bytes and `files_max` files are left.
absl::Status TrimQuarantine(const std::string& store_directory, uint64_t bytes_max,
                            size_t files_max);

}  // namespace galley::store
