// PackageOfPath: the package to which a file of a cooked tree belongs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/digest.h"
#include "common/project/project.h"

namespace galley::director {

// Action keys of what is done, by package and platform.
using DoneKeys = std::map<std::pair<std::string, std::string>, Digest>;

// The package, of those that are done, whose outputs are at `path` (of a tree, without the leading
// '/'); empty: there is none.
// Cost: one look at each package.
std::string PackageOfPath(const project::Project& project, const DoneKeys& done,
                          std::string_view path);

}  // namespace galley::director
