// PlatformMapping: maps the platform numbers of one project file to those of the next.
//
// Threads: any.
#pragma once

#include <optional>
#include <vector>

#include "common/project/project.h"
#include "director/core/ids.h"

namespace galley::director {

// Returns the new number by old number; nullopt: `now` has no such platform. A platform with the
// same name and other parameters is another platform, because results depend on the parameters.
// O(n * n).
std::vector<std::optional<PlatformIndex>> PlatformMapping(
    const std::vector<project::Platform>& before, const std::vector<project::Platform>& now);

// True: both have the same platforms with the same numbers.
bool IsSameNumbering(const std::vector<project::Platform>& before,
                     const std::vector<project::Platform>& now);

}  // namespace galley::director
