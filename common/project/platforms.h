// [[platform]]: a target with its parameters.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "common/project/project.h"
#include "common/toml/toml_value.h"

namespace galley::project {

// INVALID_ARGUMENT: a bad name, an unknown texture family or shader target, a parameter that is no
// string.
absl::StatusOr<Platform> ReadPlatform(const TomlValue& value, std::string_view file);

}  // namespace galley::project
