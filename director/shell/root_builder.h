// Builds a platform's cooked tree from results: names in the tree come from here alone.
#pragma once

#include <string>
#include <string_view>

#include "common/project/project.h"
#include "common/store/interface/store.h"
#include "director/core/events.h"
#include "director/shell/result_table.h"

namespace galley::director {

// Where a package's outputs begin in the tree: its virtual path without the leading slash, its
// mount's stage_as applied.
std::string StagePath(const project::Project& project, std::string_view package);

// Puts the Directories into the store. Blocking.
absl::StatusOr<RootBuilt> BuildRootTree(const project::Project& project, const ResultTable& results,
                                        store::Store& store, const BuildRoot& request);

}  // namespace galley::director
