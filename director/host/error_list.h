// ErrorList: joins errors to one text, with a line for each error, up to a limit.
#pragma once

#include <span>
#include <string>

namespace galley::director {

inline constexpr size_t kErrorsToldMax = 20;

// Returns at most kErrorsToldMax lines, and then "and 288 more".
std::string ErrorList(std::span<const std::string> errors);

}  // namespace galley::director
