// GiveBackDeadBytes: frees the dead bytes of segments after a cook.
//
// Most cooks leave few dead bytes, and have to end at once, so the first check uses only sizes and
// counters, which costs next to nothing. The index is read only if by these too many bytes may be
// dead, and the segments have changed in size, or the blobs shrunk, by a twentieth since a run last
// found nothing more to do. A note, the file `compacted`, keeps the sizes of that time. A run that
// leaves work to the next run, because of its bound or because a session began meanwhile, writes no
// note.
#pragma once

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

// See DeadBytes::GiveBackDeadBytes. REQUIRES: Maintenance's lock of collections is held.
absl::StatusOr<GcReport> GiveBackDeadBytes(StoreParts& store, Cancellation* cancellation);

}  // namespace galley::store
