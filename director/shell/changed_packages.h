// ChangedPackages: the packages that a change of files concerns, also packages without observations
// in the journal because they never had a result. Such a package is made of at least its own
// source, and has the name of that file.
//
// The director of the simulation calls the same functions.
// Threads: as Journal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/content/changes.h"
#include "director/journal/journal.h"

namespace galley::director {

// For a cook, whose packages may have failed or be under way: returns Journal::Affected and all
// files that the changes name, sorted. For few changes.
absl::StatusOr<std::vector<std::string>> ChangedPackages(Journal& journal,
                                                         std::span<const content::Change> changes);

// For the start of a director: returns Journal::Affected and the changed packages that the previous
// cook blamed, sorted by path. For any number of changes.
absl::StatusOr<std::vector<std::string>> ChangedSinceLastCook(
    Journal& journal, std::span<const content::Change> changes);

}  // namespace galley::director
