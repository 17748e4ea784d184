// Words of galley.toml that stand in the contract and are not built yet: whoever writes one is told
// so, instead of "unknown key" or of a key that silently does nothing. A key leaves the list when
// it is built.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/toml/toml_value.h"

namespace galley::project {

// INVALID_ARGUMENT: "galley.toml:12: `director.http`: not yet".
absl::Status RefuseLaterKeys(const TomlValue& document, std::string_view file);
// The same for a sidecar, which has the keys of a rule: "a.png.cook:2: `walls`: not yet".
absl::Status RefuseLaterKeysOfSidecar(const TomlValue& document, std::string_view file);
// The same for variables such as GALLEY_DIRECTOR_HTTP.
absl::Status RefuseLaterVariables(const std::map<std::string, std::string>& environment);

}  // namespace galley::project
