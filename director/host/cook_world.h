// MakeWorld: makes a world from the project's present files and rules, for a cook or for devices.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/host/director.h"
#include "director/shell/world.h"

namespace galley::director {

// Makes the world by a scan of all files. The snapshot table is not written yet. A package with a
// wrong rule or sidecar fails by itself when it is asked for. Errors, as in outcome_status.h: the
// project file is wrong; `stop` was cancelled.
absl::StatusOr<std::shared_ptr<World>> ScanWorld(const Director& director, const Setup& setup,
                                                 const Cancellation& stop);

// Returns the options of the scans that make worlds of the setup.
content::ScanOptions ScanOptionsOf(const Setup& setup);

// ScanWorld and CheckPackages: the world of a cook. Errors, as in outcome_status.h: those of both.
absl::StatusOr<std::shared_ptr<World>> MakeWorld(const Director& director, const Setup& setup,
                                                 const Cancellation& stop);

// Makes the world from the journal's base, the snapshot table of `meta`, and looks only at the
// virtual paths of files and folders that `changed_in` returns for that base. Sets World::since.
// Packages are resolved by need; the caller calls CheckPackages. `present`: the director's world,
// whose snapshot may be the base; may be null. FAILED_PRECONDITION: the base is not known.
using ChangedIn = std::function<std::vector<std::string>(const content::Snapshot& base)>;
absl::StatusOr<std::shared_ptr<World>> MakeRevisedWorld(const Director& director,
                                                        const Setup& setup, const JournalMeta& meta,
                                                        const WorldPtr& present,
                                                        const ChangedIn& changed_in);

// Resolves all packages. Errors, as in outcome_status.h: all errors of rules and sidecars; or there
// is no package.
absl::Status CheckPackages(const World& world);

}  // namespace galley::director
