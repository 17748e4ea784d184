// ScanProject: scans a project as a cook would, for commands that cook nothing. Takes no lock, and
// writes nothing.
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

// Returns the options for a scan of the project's files.
content::ScanOptions ScanOptionsOf(const project::Project& project);

// INVALID_ARGUMENT: all errors of rules and sidecars, each once, with its file and line.
absl::Status CheckRecipes(const ProjectCatalog& table);

}  // namespace galley::director
