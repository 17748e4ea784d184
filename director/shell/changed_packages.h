// ChangedPackages: finds the packages that a change of files affects. A package that never had a
// result has no observations in the journal, but depends on its source, whose path is its name.
//
// The simulation's director calls the same functions.
// Threads: as Journal.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/content/changes.h"
#include "common/store/interface/store.h"
#include "director/journal/journal.h"

namespace galley::director {

// For a running cook, whose packages may have failed or be in work: returns Journal::Affected and
// all changed paths, with the package of each sidecar, sorted. For few changes.
absl::StatusOr<std::vector<std::string>> ChangedPackages(Journal& journal,
                                                         std::span<const content::Change> changes);

// For the start of a director: returns Journal::Affected and the changed packages that the previous
// cook blamed, sorted. For any number of changes. REQUIRES: `changes` are sorted by path.
absl::StatusOr<std::vector<std::string>> ChangedSinceLastCook(
    Journal& journal, std::span<const content::Change> changes);

// For the start of a director: returns the packages whose records are no longer trusted, in any
// order, some perhaps twice. `changes`: of the journal's files, sorted by path; null: unknown, and
// no record is trusted. `has_lost`: the store's loss epoch rose. Blocks. Errors: the journal's and
// the store's.
absl::StatusOr<std::vector<std::string>> PackagesToDistrust(
    const std::vector<content::Change>* changes, bool has_lost, store::Store& store,
    Journal& journal);

}  // namespace galley::director
