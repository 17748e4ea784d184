// Which package a file of a cooked tree is of.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "common/project/project.h"
#include "director/cli/report.h"

namespace galley::cli {

// Of those that are done, the package whose outputs are at `path` (of a tree, without the leading
// '/'); empty: none is. Cost: one look at each package.
std::string PackageOfPath(const project::Project& project, const Report& report,
                          std::string_view path);

}  // namespace galley::cli
