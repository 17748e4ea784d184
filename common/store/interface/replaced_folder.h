// ReplacedFolder: what a process can do when the folder of a store that it owns was deleted, or
// when another stands in its place (an older copy, say), or when that happened to files in it
// (StoredFiles). Until then it goes on in the folder that it opened: its reads are right there, and
// what it makes durable is refused.
//
// Threads: any.
#pragma once

#include "absl/status/status.h"

namespace galley::store {

class ReplacedFolder {
 public:
  virtual ~ReplacedFolder() = default;
  // FAILED_PRECONDITION: the folder, or files that are needed in it, were deleted or replaced. OK
  // also where another process owns the store. Cost: as StoredFiles::CheckFiles.
  virtual absl::Status CheckFolder() const = 0;
  // Lets go of the folder that was opened, and opens what is there now; an empty store where there
  // is nothing. OK when all is still the same. Calls that others make meanwhile end with
  // UNAVAILABLE, or find nothing.
  virtual absl::Status OpenWhatIsThere() = 0;
};

}  // namespace galley::store
