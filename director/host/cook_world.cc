#include "director/host/cook_world.h"

#include <utility>

#include "common/base/file.h"
#include "director/host/outcome_status.h"
#include "director/host/scanned_project.h"
#include "fmt/format.h"

namespace galley::director {

namespace {

content::ScanOptions OptionsOf(const project::Project& project) {
  content::ScanOptions scan = ScanOptionsOf(project);
  scan.digest_cache_file = JoinPath(project.state_directory(), "digests");
  return scan;
}

absl::StatusOr<std::shared_ptr<World>> WorldOf(const Director& director, const Setup& setup,
                                               const ProjectCatalog::Options& table_options,
                                               SnapshotPtr snapshot) {
  auto world = std::make_shared<World>();
  world->snapshot = std::move(snapshot);
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
                    JoinPath(setup.project->root, project::kProjectFile)));
  }
  return world;
}

}  // namespace

absl::StatusOr<std::shared_ptr<World>> MakeWorld(const Director& director, const Setup& setup,
                                                 const ProjectCatalog::Options& table_options) {
  auto snapshot = content::Snapshot::Scan(OptionsOf(*setup.project));
  if (!snapshot.ok()) return WrongUse(snapshot.status());
  return WorldOf(director, setup, table_options, *std::move(snapshot));
}

absl::StatusOr<std::shared_ptr<World>> MakeListedWorld(const Director& director, const Setup& setup,
                                                       const ProjectCatalog::Options& table_options,
                                                       const JournalMeta& meta,
                                                       const std::vector<std::string>& changed) {
  const std::string state = setup.project->state_directory();
  if (meta.table_file.empty())
    return absl::FailedPreconditionError("no cook has looked at all files yet");
  const auto base =
      content::Snapshot::FromTable(JoinPath(state, meta.table_file), OptionsOf(*setup.project));
  if (!base.ok() || (*base)->identity() != meta.table_id)
    return absl::FailedPreconditionError("the files that the last cook saw are not known");
  auto snapshot = (*base)->Refresh(changed);
  if (!snapshot.ok()) return absl::FailedPreconditionError(snapshot.status().message());
  return WorldOf(director, setup, table_options, *std::move(snapshot));
}

}  // namespace galley::director
