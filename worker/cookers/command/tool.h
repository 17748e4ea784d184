// Programs to run: found, and observed.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "worker/cookers/cooker.h"

namespace galley::worker {

inline constexpr std::string_view kSearchPath = "/usr/local/bin:/usr/bin:/bin";

// Host path of the program `name`: with a '/' an absolute path or one relative to galley.toml, else
// the first in kSearchPath; every place looked at is observed. For a "#!" script its interpreter
// (and what /usr/bin/env would find) is observed too. INVALID_ARGUMENT: there is none.
absl::StatusOr<std::string> FindTool(CookContext& context, const std::string& name);

}  // namespace galley::worker
