// Keys of galley.toml that are in the contract but not built yet. A person who uses such a key gets
// this error, instead of "unknown key" or a key without effect. A key leaves the list when it is
// built.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/toml/toml_value.h"

namespace galley::project {

// INVALID_ARGUMENT: "galley.toml:12: `cook.prove`: not yet".
absl::Status RefuseLaterKeys(const TomlValue& document, std::string_view file);
// RefuseLaterKeys for a sidecar, which has the keys of a rule: "a.png.cook:2: `walls`: not yet".
absl::Status RefuseLaterKeysOfSidecar(const TomlValue& document, std::string_view file);
// RefuseLaterKeys for environment variables such as GALLEY_COOK_PROVE.
absl::Status RefuseLaterVariables(const std::map<std::string, std::string>& environment);

}  // namespace galley::project
