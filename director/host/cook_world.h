// MakeWorld: the first world of a cook: the project's files as they are now, and what they are to
// the rules.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/host/director.h"
#include "director/shell/world.h"

namespace galley::director {

// Scans the files as `setup` says. The snapshot table is not written yet. Errors: outcome_status.h:
// all that is wrong with rules and sidecars; there is no package at all.
absl::StatusOr<std::shared_ptr<World>> MakeWorld(const Director& director, const Setup& setup,
                                                 const ProjectCatalog::Options& table);

// The same with the files of the base that the journal names, of which only `changed` (virtual
// paths of files and folders) are looked at. FAILED_PRECONDITION: there is no such base.
absl::StatusOr<std::shared_ptr<World>> MakeListedWorld(const Director& director, const Setup& setup,
                                                       const ProjectCatalog::Options& table,
                                                       const JournalMeta& meta,
                                                       const std::vector<std::string>& changed);

}  // namespace galley::director
