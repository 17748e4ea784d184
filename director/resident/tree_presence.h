// IsTreeWhole: says whether the store has a session's tree, down to its last file.
//
// A store keeps for its caller what it has told to be there, until the caller's session with the
// store is renewed. So a lease can be taken of a root that is whole, and is known to hold if the
// root is still whole afterwards (store::Store::ChangeLeases).
//
// Cost: each folder of the tree is read, and each blob is looked for.
// Threads: any; blocks.
#pragma once

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"

namespace galley::director {

// CANCELLED: `stop`. INVALID_ARGUMENT: a folder is none. Others: the store's.
absl::StatusOr<bool> IsTreeWhole(store::Store& store, const Digest& root, const Cancellation& stop);

}  // namespace galley::director
