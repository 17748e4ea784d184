// ErrorList: errors of one kind as one text: one line for each error, and no more lines than a
// person reads.
#pragma once

#include <span>
#include <string>

namespace galley::director {

inline constexpr size_t kErrorsToldMax = 20;

// At most kErrorsToldMax lines, then "and 288 more".
std::string ErrorList(std::span<const std::string> errors);

}  // namespace galley::director
