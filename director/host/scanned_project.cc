#include "director/host/scanned_project.h"

#include <algorithm>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "director/host/error_list.h"
#include "director/shell/describe.h"

namespace galley::director {

content::ScanOptions ScanOptionsOf(const project::Project& project) {
  return {.mounts = project.mounts,
          .ignore = project.scan_ignore,
          .excluded_directories = {JoinPath(project.root, ".galley"), project.store.directory,
                                   project.output_directory}};
}

absl::StatusOr<ScannedProject> ScanProject(project::Project project) {
  ASSIGN_OR_RETURN(const Cookers cookers,
                   DescribeCookers(JoinPath(ProgramDirectory(), "galley-worker"), "",
                                   project.cook.binary_identity));
  ScannedProject scanned;
  scanned.project = std::make_shared<const project::Project>(std::move(project));
  ASSIGN_OR_RETURN(scanned.snapshot, content::Snapshot::Scan(ScanOptionsOf(*scanned.project)));
  ASSIGN_OR_RETURN(scanned.table,
                   ProjectCatalog::Build(scanned.snapshot, scanned.project,
                                         std::make_shared<const project::RecipeResolver>(
                                             *scanned.project, cookers.descriptions)));
  return scanned;
}

absl::Status CheckRecipes(const ProjectCatalog& table) {
  std::vector<std::string> errors = table.resolver()->CheckRules();
  for (const std::string& error : table.recipe_errors()) {
    if (std::ranges::find(errors, error) == errors.end()) errors.push_back(error);
  }
  return errors.empty() ? absl::OkStatus() : absl::InvalidArgumentError(ErrorList(errors));
}

}  // namespace galley::director
