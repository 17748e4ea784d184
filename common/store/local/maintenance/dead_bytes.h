// Giving back the dead bytes of segments after a cook.
//
// Most cooks leave few of them, and have to end at once: what sizes and counters say costs next to
// nothing. The index is read only when by them too much may be dead, and the segments have grown,
// or the blobs shrunk, by a twentieth since nothing was left to do: a note (the file `compacted`)
// says how large they were then. What a run leaves, because it would be too long or because a
// session began meanwhile, is the next one's: it leaves no note.
#pragma once

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store.h"
#include "common/store/local/store_parts.h"

namespace galley::store {

// DeadBytes::GiveBackDeadBytes. REQUIRES: Maintenance's lock of collections is held.
absl::StatusOr<GcReport> GiveBackDeadBytes(StoreParts& store, Cancellation* cancellation);

}  // namespace galley::store
