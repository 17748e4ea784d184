// PlatformMapping: how the platforms of one project file are numbered in the next one.
//
// Threads: any.
#pragma once

#include <optional>
#include <vector>

#include "common/project/project.h"
#include "director/core/ids.h"

namespace galley::director {

// Indexed by old number; nullopt: `now` has no such platform. A platform with the same name and
// other parameters is another platform, because packages are made of the parameters. O(n * n).
std::vector<std::optional<PlatformIndex>> PlatformMapping(
    const std::vector<project::Platform>& before, const std::vector<project::Platform>& now);

// True: the numbers are the same, and no platform came or went.
bool IsSameNumbering(const std::vector<project::Platform>& before,
                     const std::vector<project::Platform>& now);

}  // namespace galley::director
