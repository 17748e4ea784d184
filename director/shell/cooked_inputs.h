// CookedInputsOf: the packages whose outputs the cook of a result read.
//
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/record/observation.h"

namespace galley::director {

// Returns the absolute names of the packages, sorted, each once. Skips paths that name no package:
// their readers observed that there is no output.
std::vector<std::string> CookedInputsOf(std::string_view package,
                                        const std::vector<record::Observed>& observed);

}  // namespace galley::director
