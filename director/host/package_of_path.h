// PackageOfPath: finds the package to which a file of a cooked tree belongs.
#pragma once

#include <string>
#include <string_view>

#include "common/project/project.h"
#include "director/standing/members.h"

namespace galley::director {

// Returns the done package that has an output at `path`, a path in the tree without a leading '/';
// empty: there is none. Cost: linear in the packages.
std::string PackageOfPath(const project::Project& project, const DoneKeys& done,
                          std::string_view path);

}  // namespace galley::director
