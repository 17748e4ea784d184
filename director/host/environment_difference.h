// EnvironmentDifference: the variables that differ between the asker of a cook and the director,
// whose values cooks observe (env(...)). A difference matters only if a cook observes the variable.
// So each result is checked as it comes, and a result that depends on such a variable ends the cook
// unpublished.
//
// Threads: any.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "director/shell/result_table.h"

namespace galley::director {

// DifferingVariables: name -> the asker's value, as text for people (ValueText).
using DifferingVariables = std::map<std::string, std::string, std::less<>>;

// Returns the value in quotes, "\"2\"", escaped, and cut if it is long.
std::string ValueText(std::string_view value);
inline constexpr std::string_view kUnsetText = "unset";

// Says why the result must not be a part of the cook, with both values; empty: it may be.
// Cost: none when `differing` is empty.
std::string RefusalOf(const DifferingVariables& differing, const StoredResult& result);

}  // namespace galley::director
