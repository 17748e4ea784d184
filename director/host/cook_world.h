// MakeWorld: makes the first world of a cook from the project's present files and the rules for
// them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/host/director.h"
#include "director/shell/world.h"

namespace galley::director {

// Scans the files of `setup`. The snapshot table is not written yet. Errors: outcome_status.h:
// everything wrong with rules and sidecars; there is no package at all; `stop` was cancelled.
absl::StatusOr<std::shared_ptr<World>> MakeWorld(const Director& director, const Setup& setup,
                                                 const ProjectCatalog::Options& table,
                                                 const Cancellation& stop);

// Makes the world from the files of the base that the journal names, and looks only at the files
// that `changed_in` names in that base (virtual paths of files and folders). `present`: the
// director's world, which may have that base; null: there is none. World::since is known. Packages
// are resolved by need, and the caller calls CheckPackages. FAILED_PRECONDITION: there is no such
// base.
using ChangedIn = std::function<std::vector<std::string>(const content::Snapshot& base)>;
absl::StatusOr<std::shared_ptr<World>> MakeRevisedWorld(
    const Director& director, const Setup& setup, const ProjectCatalog::Options& table,
    const JournalMeta& meta, const WorldPtr& present, const ChangedIn& changed_in);

// Reports everything wrong with rules and sidecars, or that there is no package at all. Resolves
// all packages. Errors: outcome_status.h.
absl::Status CheckPackages(const World& world);

}  // namespace galley::director
