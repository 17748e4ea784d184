// ToVirtual: converts a package or folder that a person typed to a virtual path.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/project/project.h"

namespace galley::director {

// An argument under a mount's virtual path is virtual. Any other argument is a host path in a
// mounted folder, relative to the working directory; links are resolved. INVALID_ARGUMENT: neither;
// the text lists the mounts.
absl::StatusOr<std::string> ToVirtual(const project::Project& project, const std::string& argument);

}  // namespace galley::director
