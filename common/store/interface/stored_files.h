// StoredFiles: lets the owner of a store directory check its files, which somebody else may have
// deleted, truncated or replaced while the store was open, for example by an older copy.
//
// Threads: any.
#pragma once

#include "absl/status/status.h"

namespace galley::store {

class StoredFiles {
 public:
  virtual ~StoredFiles() = default;
  // FAILED_PRECONDITION, naming the fault: the folders, the id, the index or the newest segments
  // are no longer as they were opened and written. Cost: some stats, and a stat of each of the
  // newest thousand segments; the bytes of blobs are not read.
  virtual absl::Status CheckFiles() = 0;
};

}  // namespace galley::store
