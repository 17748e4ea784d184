// StoredFiles: what the owner of a store directory can tell of the files in it, which somebody else
// may have deleted, cut or replaced while the store was open (an older copy that was put over it).
//
// Threads: any.
#pragma once

#include "absl/status/status.h"

namespace galley::store {

class StoredFiles {
 public:
  virtual ~StoredFiles() = default;
  // FAILED_PRECONDITION: the folders, the id, the index or the newest segments are not what was
  // opened and written: says which. Cost: some stats, and one for each of the newest thousand
  // segments; the bytes of blobs are not read.
  virtual absl::Status CheckFiles() = 0;
};

}  // namespace galley::store
