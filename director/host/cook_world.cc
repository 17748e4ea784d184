#include "director/host/cook_world.h"

#include <utility>

#include "common/base/file.h"
#include "director/host/outcome_status.h"
#include "director/host/scanned_project.h"
#include "fmt/format.h"

namespace galley::director {

absl::StatusOr<std::shared_ptr<World>> MakeWorld(const Director& director, const Setup& setup,
                                                 const ProjectCatalog::Options& table_options) {
  const project::Project& project = *setup.project;
  content::ScanOptions scan = ScanOptionsOf(project);
  scan.digest_cache_file = JoinPath(project.state_directory(), "digests");
  auto snapshot = content::Snapshot::Scan(scan);
  if (!snapshot.ok()) return WrongUse(snapshot.status());
  auto world = std::make_shared<World>();
  world->snapshot = *std::move(snapshot);
  world->project = setup.project;
  world->table_options = table_options;
  world->environment = director.environment();
  auto table =
      ProjectCatalog::Build(world->snapshot, world->project, setup.resolver, table_options);
  if (!table.ok()) return WrongUse(table.status());
  world->table = *std::move(table);
  if (const absl::Status recipes = CheckRecipes(*world->table); !recipes.ok())
    return WrongUse(recipes);
  if (world->table->names().empty()) {
    return WrongUse(
        fmt::format("{}: the project holds no package: no file under its mounts "
                    "matches a [[rule]] or has a sidecar",
                    JoinPath(project.root, project::kProjectFile)));
  }
  return world;
}

}  // namespace galley::director
