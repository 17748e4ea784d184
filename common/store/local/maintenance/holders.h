// Holders: those for whose sake things stay in a store that nobody needs: live sessions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/store/local/store_state.h"

namespace galley::store {

struct Holders {
  absl::Time since;                // the oldest live session began; by the clock of sessions.h
  absl::Time oldest_write;         // the same by the files' clock
  bool hold_all = false;           // what they were told before this owner came, nobody knows
  std::vector<std::string> names;  // none: nobody
};

// The sessions that live now. An error: they cannot be listed.
absl::StatusOr<Holders> FindHolders(const StoreState& store);

}  // namespace galley::store
