// LookAtStore: finds the damage of a store, for `galley doctor`. Changes nothing, and does not
// become the owner: opening the store heals later (docs/operating.md).
//
// Checks the mark of the format, the id, the loss epoch, the headers of segments, all bytes of the
// index, and by stat(2) the segments and files that the index names. Does not read the bytes of
// blobs: `galley store verify` does.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/finding.h"

namespace galley::store {

struct StoreLook {
  std::vector<Finding> findings;
  // Another process owns the store: its index is being written, and was not checked.
  bool is_owned = false;
  // Why no cook can open the store, and what to do; such faults do not heal. Empty: none.
  std::string refusal;
};

// NOT_FOUND: there is no store.
absl::StatusOr<StoreLook> LookAtStore(const std::string& store_directory);

}  // namespace galley::store
