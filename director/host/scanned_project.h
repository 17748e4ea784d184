// ScanProject: the project as a cook would see it now, for commands that cook nothing: ScanProject
// takes no lock and writes nothing.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "director/shell/project_catalog.h"

namespace galley::director {

struct ScannedProject {
  std::shared_ptr<const project::Project> project;
  SnapshotPtr snapshot;
  std::shared_ptr<const ProjectCatalog> table;
};

// INVALID_ARGUMENT, NOT_FOUND: wrong usage or project file. UNAVAILABLE: the cookers cannot be
// asked for their settings. CheckRecipes reports what is wrong with rules and sidecars.
absl::StatusOr<ScannedProject> ScanProject(project::Project project);
// Returns the project as a cook with these options sees it.
absl::StatusOr<ScannedProject> ScanProject(project::Project project,
                                           const ProjectCatalog::Options& options);

// Returns the options for a scan of this project.
content::ScanOptions ScanOptionsOf(const project::Project& project);

// INVALID_ARGUMENT: everything wrong with rules and sidecars, each error once with its file and
// line.
absl::Status CheckRecipes(const ProjectCatalog& table);

}  // namespace galley::director
