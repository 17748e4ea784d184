// StagePath: the prefix of the paths of a package's outputs in the cooked tree.
#pragma once

#include <string>
#include <string_view>

#include "common/project/project.h"

namespace galley::director {

// Returns the package's virtual path, with its mount's stage_as applied, without a leading slash.
std::string StagePath(const project::Project& project, std::string_view package);

}  // namespace galley::director
