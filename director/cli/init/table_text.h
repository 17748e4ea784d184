// The table of `galley init`, for people and for programs. Pure.
#pragma once

#include <string>

#include "director/cli/init/plan.h"
#include "nlohmann/json_fwd.hpp"

namespace galley::init {

// Lines with a newline each. Control characters and bytes that are no UTF-8 are escaped.
std::string TableText(const Plan& plan);

// {"mounts": [...], "table": [{"extension", "files", "action", "cooker", "settings", "reason",
// "examples"}], "cut": false}
nlohmann::json TableJson(const Plan& plan);

}  // namespace galley::init
