// ToVirtual: turns a package or folder as a person types it into a virtual path.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/project/project.h"

namespace galley::director {

// The argument is virtual when it lies under a mount's virtual path; otherwise it is a file path in
// a mounted folder (relative to the working directory, links resolved). INVALID_ARGUMENT lists the
// mounts.
absl::StatusOr<std::string> ToVirtual(const project::Project& project, const std::string& argument);

}  // namespace galley::director
