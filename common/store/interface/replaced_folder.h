// ReplacedFolder: lets the process that owns a store recover when the store's folder was deleted,
// or replaced (by an older copy, say), or when files in it were (StoredFiles). Until then the
// process uses the folder that it opened: reads are right, and every write that must be durable is
// refused.
//
// Threads: any.
#pragma once

#include "absl/status/status.h"

namespace galley::store {

class ReplacedFolder {
 public:
  virtual ~ReplacedFolder() = default;
  // FAILED_PRECONDITION: the folder, or files that are needed in it, were deleted or replaced. OK
  // also if another process owns the store. Cost: as StoredFiles::CheckFiles.
  virtual absl::Status CheckFolder() const = 0;
  // Closes the opened folder, and opens the folder that now has its path; makes an empty store if
  // there is none. Does nothing if the folder is still the same. Concurrent calls end with
  // UNAVAILABLE, or find nothing.
  virtual absl::Status OpenWhatIsThere() = 0;
};

}  // namespace galley::store
