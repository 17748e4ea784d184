// Holders: the live sessions, for which a store keeps blobs and results that nothing else needs.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/local/store_state.h"

namespace galley::store {

struct Holders {
  absl::Time since;                // begin of the oldest live session; clock of sessions.h
  absl::Time oldest_write;         // the same time by the files' clock
  bool hold_all = false;           // a session began before this owner: what it was told is unknown
  std::vector<std::string> names;  // empty: no session
};

// Returns the live sessions. An error: they cannot be listed.
absl::StatusOr<Holders> FindHolders(const StoreState& store);

}  // namespace galley::store
