// PackagesBeside: finds packages whose outputs look like outputs of failed packages by their names:
// "/Game/a.json.meta" beside "/Game/a.json".
#pragma once

#include <string>
#include <vector>

#include "common/project/project.h"

namespace galley::director {

// Returns the StagePaths of such packages in `names` and `generated`, which are sorted and hold all
// present packages. `failed`: the StagePaths of the failed packages; none of them is returned.
// Cost: a search for each failed package.
std::vector<std::string> PackagesBeside(const project::Project& project,
                                        const std::vector<std::string>& names,
                                        const std::vector<std::string>& generated,
                                        const std::vector<std::string>& failed);

}  // namespace galley::director
