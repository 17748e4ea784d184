// The packages that a change of files concerns, also those of which the journal has no observations
// because they never had a result. Such a package is made of its own source at least, and its name
// is the name of that file.
//
// The simulation's director asks the same.
// Threads: as Journal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/content/snapshot.h"
#include "director/journal/journal.h"

namespace galley::director {

// For a cook, whose packages may have failed or be under way: Journal::Affected, and all files that
// the changes name. Sorted. For few changes.
absl::StatusOr<std::vector<std::string>> ChangedPackages(Journal& journal,
                                                         std::span<const content::Change> changes);

// For the start of a director: Journal::Affected, and the changed packages that the cook before it
// blamed. For any number of changes, sorted by path.
absl::StatusOr<std::vector<std::string>> ChangedSinceLastCook(
    Journal& journal, std::span<const content::Change> changes);

}  // namespace galley::director
