// TemplateText: texts with placeholders such as {name}. Braces around anything but a lower-case
// word stay as they are, for example ${HOME} in a shell and {a: b} in YAML.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace galley::director {

// Replaces only the placeholders that `values` has.
std::string FillIn(std::string_view text, const std::map<std::string, std::string>& values);
// INVALID_ARGUMENT: "{cuont}: no such placeholder; there are {count}, {name}".
absl::Status CheckPlaceholders(std::string_view text, const std::vector<std::string>& known);

}  // namespace galley::director
