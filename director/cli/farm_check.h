// CheckFarm: checks, before anything begins, that workers can come as [farm] says.
#pragma once

#include "absl/status/status.h"
#include "common/project/project.h"

namespace galley::cli {

// INVALID_ARGUMENT: workers cannot come; the text says what to do.
absl::Status CheckFarm(const project::Project& project);

}  // namespace galley::cli
