// ApplyDifference: brings the journal up to date with the files. The records of packages that
// observed something that changed since the last cook are no longer trusted, until the packages are
// looked up again.
//
// If the journal's last cook had another store or trust domain, or its snapshot table is gone, no
// record is trusted. If the store has lost something since, packages that lack an output are not
// trusted either.
//
// Threads: none. Cost: proportional to the change; one scan of the journal if nothing is trusted.
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
  uint32_t term = 0;  // of the director
};

// Writes the snapshot table of `world`, and sets World::table_file and table_id. Then one synced
// write to the journal holds the records that are no longer trusted, and the base of the next
// difference. Errors: outcome_status.h.
absl::Status ApplyDifference(const DifferenceOptions& options, store::Store& store,
                             Journal& journal, World& world);

}  // namespace galley::director
