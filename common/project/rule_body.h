// The keys that [[rule]] and a sidecar share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "common/toml/toml_value.h"

namespace galley::project {

// `extra_keys`: further keys that may stand in the table ("match") and are read by the caller.
absl::StatusOr<RuleBody> ReadRuleBody(const TomlValue& value, std::string_view file,
                                      std::string_view name,
                                      const std::vector<std::string>& extra_keys);

// Adds the kind of warnings `name` to `rules`, as left out or as an error; INVALID_ARGUMENT: there
// is no such kind, or it is there already.
absl::Status AddWarningKind(const std::string& name, bool is_error, record::WarningRules& rules);

}  // namespace galley::project
