// MakeWorld: the first world of a cook: the project's files as they are now, and what they are to
// the rules.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/host/director.h"
#include "director/shell/world.h"

namespace galley::director {

// Scans the files as `setup` says. The snapshot table is not written yet. Errors: outcome_status.h:
// all that is wrong with rules and sidecars; there is no package at all; `stop` was cancelled.
absl::StatusOr<std::shared_ptr<World>> MakeWorld(const Director& director, const Setup& setup,
                                                 const ProjectCatalog::Options& table,
                                                 const Cancellation& stop);

// The same with the files of the base that the journal names, of which only those are looked at
// that `changed_in` names of that base (virtual paths of files and folders). `present`: the
// director's world, which may have that base; null: it has none. World::since is known. Packages
// are resolved by need, and CheckPackages is for the caller. FAILED_PRECONDITION: there is no such
// base.
using ChangedIn = std::function<std::vector<std::string>(const content::Snapshot& base)>;
absl::StatusOr<std::shared_ptr<World>> MakeRevisedWorld(
    const Director& director, const Setup& setup, const ProjectCatalog::Options& table,
    const JournalMeta& meta, const WorldPtr& present, const ChangedIn& changed_in);

// All that is wrong with rules and sidecars; or there is no package at all. Resolves all packages.
// Errors: outcome_status.h.
absl::Status CheckPackages(const World& world);

}  // namespace galley::director
