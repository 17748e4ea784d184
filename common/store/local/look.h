// LookAtStore: what is damaged of a store, for `galley doctor`. Nothing is changed, nobody becomes
// the owner: what opening heals (docs/operating.md) is still to be healed afterwards.
//
// Looked at are the mark of the format, the id, the loss epoch, the headers of segments, the index
// with all its bytes, and by stat(2) the segments and files that the index names. The bytes of
// blobs are not: that is `galley store verify`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/finding.h"

namespace galley::store {

struct StoreLook {
  std::vector<Finding> findings;
  // Another process has the store: its index is being written, and was not looked at.
  bool is_owned = false;
  // Not empty: why no cook opens it, and what to do. Nothing of that heals.
  std::string refusal;
};

// NOT_FOUND: there is no store.
absl::StatusOr<StoreLook> LookAtStore(const std::string& store_directory);

}  // namespace galley::store
