// Selection: what a cook asks for, as packages with their instigator categories.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "director/cli/cook_options.h"
#include "director/core/events.h"
#include "director/shell/project_catalog.h"

namespace galley::cli {

struct Selection {
  std::vector<director::SelectedPackage> packages;  // sorted by name, then category; unique
  bool by_the_book = false;
  std::vector<std::string> warnings;  // a glob of galley.toml that matches nothing
};

// INVALID_ARGUMENT: an argument that names nothing, with the nearest name.
absl::StatusOr<Selection> Select(const CookCommandOptions& options, const project::Project& project,
                                 const director::ProjectCatalog& table);

}  // namespace galley::cli
