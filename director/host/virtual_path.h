// ToVirtual: a package or folder as a person types it, as a virtual path.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/project/project.h"

namespace galley::director {

// Virtual when it lies under a mount's virtual path, else a file path (relative to the working
// directory, links resolved) in a mounted folder. INVALID_ARGUMENT lists the mounts.
absl::StatusOr<std::string> ToVirtual(const project::Project& project, const std::string& argument);

}  // namespace galley::director
