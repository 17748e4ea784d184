// What of the environment differs for who asks for a cook and for the director, whose values cooks
// observe (env(...)). A variable matters only where a cook looked at it, so the results of a cook
// are looked at as they come, and one that such a variable decided ends the cook unpublished.
//
// Threads: any.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "director/shell/result_table.h"

namespace galley::director {

// Name -> the value of who asks, as people read it (ValueText).
using DifferingVariables = std::map<std::string, std::string, std::less<>>;

// "\"2\"": escaped, and cut where it is long.
std::string ValueText(std::string_view value);
inline constexpr std::string_view kUnsetText = "unset";

// Why the result may not be a part of that cook, with both values; empty: it may.
// Cost: nothing when `differing` is empty.
std::string RefusalOf(const DifferingVariables& differing, const StoredResult& result);

}  // namespace galley::director
