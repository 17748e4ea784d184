// PackageOfPath: the package to which a file of a cooked tree belongs.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/project/project.h"
#include "director/cli/report.h"

namespace galley::cli {

// The package, of those that are done, whose outputs are at `path` (of a tree, without the leading
// '/'); empty: there is none.
// Cost: one look at each package.
std::string PackageOfPath(const project::Project& project, const Report& report,
                          std::string_view path);

}  // namespace galley::cli
