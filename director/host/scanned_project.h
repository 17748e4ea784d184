// ScanProject: the project as a cook would see it now, for commands that cook nothing: no lock is
// taken and nothing is written.
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
// asked for their settings. What is wrong with rules and sidecars is for CheckRecipes.
absl::StatusOr<ScannedProject> ScanProject(project::Project project);
// The same as a cook with these options sees it.
absl::StatusOr<ScannedProject> ScanProject(project::Project project,
                                           const ProjectCatalog::Options& options);

// The options of a scan of this project.
content::ScanOptions ScanOptionsOf(const project::Project& project);

// INVALID_ARGUMENT: all that is wrong with rules and sidecars, each once with its file and line.
absl::Status CheckRecipes(const ProjectCatalog& table);

}  // namespace galley::director
