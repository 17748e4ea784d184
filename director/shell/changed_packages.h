// Which packages a change of files concerns, beyond those whose observations the journal knows: of
// one that never had a result it has none. What such a package is made of is its own source at
// least, and its name is that file's.
//
// The simulation's director asks the same. Threads: as Journal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/content/snapshot.h"
#include "director/journal/journal.h"

namespace galley::director {

// In a cook, whose packages may have failed or be under way: Affected, and all that the changes
// name. Sorted. For few changes.
absl::StatusOr<std::vector<std::string>> ChangedPackages(Journal& journal,
                                                         std::span<const content::Change> changes);

// When a director begins: Affected, and what the cook before it blamed. For any number of changes,
// sorted by path.
absl::StatusOr<std::vector<std::string>> ChangedSinceLastCook(
    Journal& journal, std::span<const content::Change> changes);

}  // namespace galley::director
