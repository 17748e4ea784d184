// StagePath: the path in the cooked tree at which a package's outputs begin.
#pragma once

#include <string>
#include <string_view>

#include "common/project/project.h"

namespace galley::director {

// Returns the package's virtual path without the leading slash, after its mount's stage_as is
// applied.
std::string StagePath(const project::Project& project, std::string_view package);

}  // namespace galley::director
