// DeadBytes: what the owner of a store directory does when a cook has ended. Dead are the bytes of
// segments that nothing in the store is made of: blobs that two workers appended, what a killed
// cook left, what a collection dropped.
//
// Threads: any; it runs beside everything else.
#pragma once

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store_admin.h"

namespace galley::store {

class DeadBytes {
 public:
  virtual ~DeadBytes() = default;
  // When dead bytes are more than a fifth of the live ones, segments of which much is dead go; what
  // is live in them is written again. Drops nothing. Nothing is done while a session lives, which
  // may read there, or where another process owns the store. The worst segments go first; one stays
  // for the next time rather than that more than 512 MiB are written again. CANCELLED: by
  // `cancellation`, with nothing lost.
  virtual absl::StatusOr<GcReport> GiveBackDeadBytes(Cancellation* cancellation) = 0;
};

}  // namespace galley::store
