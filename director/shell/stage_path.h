// Where a package's outputs begin in the cooked tree.
#pragma once

#include <string>
#include <string_view>

#include "common/project/project.h"

namespace galley::director {

// The package's virtual path without the leading slash, its mount's stage_as applied.
std::string StagePath(const project::Project& project, std::string_view package);

}  // namespace galley::director
