// The keys that [[rule]] and a sidecar share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "common/toml/toml_value.h"

namespace galley::project {

// `extra_keys`: more keys that the table may have, such as "match"; the caller reads them.
absl::StatusOr<RuleBody> ReadRuleBody(const TomlValue& value, std::string_view file,
                                      std::string_view name,
                                      const std::vector<std::string>& extra_keys);

// Adds the warning kind `name` to `rules`, as off or as an error. INVALID_ARGUMENT: an unknown
// kind, or a kind that is in `rules` already.
absl::Status AddWarningKind(const std::string& name, bool is_error, record::WarningRules& rules);

}  // namespace galley::project
