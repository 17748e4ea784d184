// DeadBytes: lets the owner of a store directory free dead bytes when a cook has ended. Dead bytes
// are bytes of segments that nothing in the store uses: a blob that two workers appended, remains
// of a killed cook, blobs that a collection dropped.
//
// Threads: any, beside all other calls.
#pragma once

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store_admin.h"

namespace galley::store {

class DeadBytes {
 public:
  virtual ~DeadBytes() = default;
  // Does nothing unless the dead bytes exceed a fifth of the live bytes. Then removes segments with
  // many dead bytes, the worst first, after their live bytes were written again; drops no blob. At
  // most 512 MiB are written again in one call; other segments wait for the next. Does nothing
  // while a session lives, which may read the segments, or if another process owns the store.
  // CANCELLED: by `cancellation`, with nothing lost.
  virtual absl::StatusOr<GcReport> GiveBackDeadBytes(Cancellation* cancellation) = 0;
};

}  // namespace galley::store
