// ExpandBraces: expands the braces of a glob: "/a.{x,y}" becomes "/a.x" and "/a.y".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::content {

// Returns at most 1,024 patterns. INVALID_ARGUMENT says what is wrong and where. Glob::Parse checks
// the rest of the syntax.
absl::StatusOr<std::vector<std::string>> ExpandBraces(std::string_view pattern);

}  // namespace galley::content
