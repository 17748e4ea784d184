// CookSelection: what a cook asks for, as packages with their instigator categories.
//
// Every pattern and every name must name a package: a name that names nothing is most often a typo,
// and a cook of the rest would silently leave something out. A generated package (".../_gen/...")
// is known only after its generator was loaded: its name is accepted when there is such a
// generator, and the cook judges the name.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/core/events.h"
#include "director/host/cook_ask.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

struct CookSelection {
  std::vector<SelectedPackage> packages;  // sorted by name, then category; unique
  bool by_the_book = false;
  std::vector<std::string> warnings;  // patterns whose packages are all never cooked
};

// INVALID_ARGUMENT: everything that names nothing, one line each, with its place and the nearest
// names; or nothing is left to cook, because all packages are never cooked.
absl::StatusOr<CookSelection> Select(const v1::Selection& ask, const project::Project& project,
                                     const ProjectCatalog& table);

// Returns the packages that `pattern` names: a glob over virtual paths, a package, or a folder (all
// packages below it), each also as a path of the host. Sorted. INVALID_ARGUMENT: the pattern names
// nothing; the error has the nearest names.
absl::StatusOr<std::vector<std::string>> PackagesNamedBy(const std::string& pattern,
                                                         const project::Project& project,
                                                         const ProjectCatalog& table);

}  // namespace galley::director
