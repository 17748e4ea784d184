// WhyText: the JSON of `galley why` as lines for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "director/core/root_paths.h"
#include "nlohmann/json.hpp"

namespace galley::cli {

// `why`: as `galley why --json` prints it. `paths`: the paths to the package that were found; the
// first `paths_shown` are shown, the others counted. `is_verbose`: with the numbers of attempts.
std::vector<std::string> WhyText(const nlohmann::json& why,
                                 const std::vector<director::RootPath>& paths, size_t paths_shown,
                                 bool is_verbose);

}  // namespace galley::cli
