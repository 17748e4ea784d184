// ExpandBraces: what the braces of a glob stand for, one after the other: "/a.{x,y}" is "/a.x" and
// "/a.y".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace galley::content {

// At most 1,024. INVALID_ARGUMENT says what is wrong and where, as Glob::Parse does, which checks
// more.
absl::StatusOr<std::vector<std::string>> ExpandBraces(std::string_view pattern);

}  // namespace galley::content
