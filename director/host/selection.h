// CookSelection: the packages that a cook asks for, with their instigator categories.
//
// Every pattern and every name must name a package: otherwise it is most often a typo, and the cook
// would silently leave something out. A generated package (".../_gen/...") is known only after its
// generator is loaded: its name is accepted if the generator exists, and checked by the cook.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/core/cook_filter.h"
#include "director/core/events.h"
#include "director/host/cook_ask.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

struct CookSelection {
  std::vector<SelectedPackage> packages;  // sorted by name, then category; unique
  bool by_the_book = false;
  std::vector<std::string> warnings;  // about patterns that name only never-cook packages
};

// `filter`: of the cook; null: the cook leaves nothing out. INVALID_ARGUMENT: names and patterns
// that name nothing, one line each, with its place and the nearest names; or nothing is left to
// cook, because all packages are never cooked.
absl::StatusOr<CookSelection> Select(const v1::Selection& ask, const project::Project& project,
                                     const ProjectCatalog& table, const CookFilter* filter);

// Returns the packages that `pattern` names, sorted. A pattern is a glob, a package, or a folder,
// which names all packages below it; virtual paths or host paths. INVALID_ARGUMENT: the pattern
// names nothing; the text has the nearest names.
absl::StatusOr<std::vector<std::string>> PackagesNamedBy(const std::string& pattern,
                                                         const project::Project& project,
                                                         const ProjectCatalog& table);

}  // namespace galley::director
