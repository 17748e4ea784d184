// Tools: finding the programs that a command runs, and observing them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "common/record/programs.h"
#include "worker/cookers/cooker.h"

namespace galley::worker {

using record::kSearchPath;

// Host path of the program `name`. A name with a '/' is absolute or relative to galley.toml; for
// other names the first match in kSearchPath counts, and every place that was looked at is
// observed. The interpreter of a "#!" script, and the program that /usr/bin/env would find for it,
// are observed, too. INVALID_ARGUMENT: there is no such program.
absl::StatusOr<std::string> FindTool(CookContext& context, const std::string& name);

}  // namespace galley::worker
