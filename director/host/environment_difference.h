// EnvironmentDifference: the variables that differ between whoever asks for a cook and the
// director, whose values cooks observe (env(...)). A variable matters only if a cook looked at it.
// So the results of a cook are checked as they come, and a result that depends on such a variable
// ends the cook unpublished.
//
// Threads: any.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "director/shell/result_table.h"

namespace galley::director {

// Name -> the asker's value, as people read it (ValueText).
using DifferingVariables = std::map<std::string, std::string, std::less<>>;

// Returns "\"2\"": escaped, and cut if it is long.
std::string ValueText(std::string_view value);
inline constexpr std::string_view kUnsetText = "unset";

// Says why the result may not be a part of that cook, with both values; empty: it may.
// Cost: nothing when `differing` is empty.
std::string RefusalOf(const DifferingVariables& differing, const StoredResult& result);

}  // namespace galley::director
