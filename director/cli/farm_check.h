// Whether workers can come as [farm] says, before anything begins.
#pragma once

#include "absl/status/status.h"
#include "common/project/project.h"

namespace galley::cli {

// INVALID_ARGUMENT: they cannot, and what to do.
absl::Status CheckFarm(const project::Project& project);

}  // namespace galley::cli
