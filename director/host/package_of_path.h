// PackageOfPath: the package to which a file of a cooked tree belongs.
#pragma once

#include <string>
#include <string_view>

#include "common/project/project.h"
#include "director/standing/members.h"

namespace galley::director {

// The package, of those that are done, whose outputs are at `path` (of a tree, without the leading
// '/'); empty: there is none.
// Cost: one look at each package.
std::string PackageOfPath(const project::Project& project, const DoneKeys& done,
                          std::string_view path);

}  // namespace galley::director
