// StatusText: what `galley status` and `galley top` show of a resident director.
//
// Threads: none.
#pragma once

#include <string>

#include "absl/time/time.h"
#include "galley/v1/director.pb.h"
#include "nlohmann/json.hpp"

namespace galley::cli {

// One screen. `columns`: lines are no longer.
std::string StatusText(const v1::StatusAnswer& status, absl::Time now, size_t columns);
nlohmann::json StatusJson(const v1::StatusAnswer& status);

}  // namespace galley::cli
