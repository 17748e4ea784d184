// RegistryRowsOf: what the registry knows of each package of a project: from the files on the disk
// now, and from what the journal remembers of the last cooks.
//
// Cost: linear in the packages and their references. Threads: none; blocks.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "director/host/scanned_project.h"
#include "director/journal/journal.h"
#include "director/registry/registry_row.h"

namespace galley::director {

// `journal`: null: nothing was cooked yet. The platforms of the rows are those of the project, in
// its order. Errors: the journal's; INVALID_ARGUMENT: more than kRegistryPlatformsMax platforms.
absl::StatusOr<std::vector<RegistryRow>> RegistryRowsOf(const ScannedProject& scanned,
                                                        Journal* journal);

}  // namespace galley::director
