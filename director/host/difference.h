// ApplyDifference: makes the journal follow the files: the journal no longer trusts the records of
// packages that looked at something which changed since the last cook, until the packages are
// looked up again.
//
// The difference is used only if the journal's last cook had the same store and trust domain, and
// its snapshot table still exists; otherwise nothing is trusted. When the store lost or dropped
// something since, packages that lack an output are not trusted either.
//
// Threads: none.   Cost: that of the change, and one scan of the journal when nothing is trusted.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "common/store/interface/store.h"
#include "director/journal/journal.h"
#include "director/shell/world.h"

namespace galley::director {

struct DifferenceOptions {
  std::string state_directory;
  std::string project_id;
  std::string trust_domain;
  uint32_t term = 0;  // the director's
};

// Writes the snapshot table of `world` and names the table there. One synced write of the journal
// holds everything that is not trusted, and the new base of the next difference. Errors:
// outcome_status.h.
absl::Status ApplyDifference(const DifferenceOptions& options, store::Store& store,
                             Journal& journal, World& world);

}  // namespace galley::director
