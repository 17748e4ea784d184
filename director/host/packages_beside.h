// PackagesBeside: packages whose outputs could be taken, by their names, for outputs of packages
// that failed ("/Game/a.json.meta" beside "/Game/a.json").
#pragma once

#include <string>
#include <vector>

#include "common/project/project.h"

namespace galley::director {

// `failed`: the paths in the tree at which the outputs of the failed packages begin (StagePath).
// Returns such paths for packages in `names` and `generated` (the packages that exist now, sorted)
// that are not in `failed`.
// Cost: a search for each failed package.
std::vector<std::string> PackagesBeside(const project::Project& project,
                                        const std::vector<std::string>& names,
                                        const std::vector<std::string>& generated,
                                        const std::vector<std::string>& failed);

}  // namespace galley::director
