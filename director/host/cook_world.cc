#include "director/host/cook_world.h"

#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/changes.h"
#include "director/host/answered_variables.h"
#include "director/host/idle_names.h"
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

std::shared_ptr<World> WorldOf(const Director& director, const Setup& setup, SnapshotPtr snapshot) {
  auto world = std::make_shared<World>();
  world->snapshot = std::move(snapshot);
  world->project = setup.project;
  world->environment = AnsweredVariables(*setup.project, director.environment());
  return world;
}

}  // namespace

absl::Status CheckPackages(const World& world) {
  if (const absl::Status recipes = CheckRecipes(*world.table); !recipes.ok())
    return WrongUse(recipes);
  if (!world.table->names().empty()) return absl::OkStatus();
  // Without a package nothing is generated.
  std::string idle;
  for (const record::Warning& one : IdleNames(*world.project, *world.table, [](const auto&) {})) {
    if (one.kind == record::WarningKind::kRuleMatchesNothing ||
        one.kind == record::WarningKind::kMountEmpty)
      idle += "\n  " + one.text;
  }
  return WrongUse(
      fmt::format("{}: the project holds no package: no file under its mounts "
                  "matches a [[rule]] or has a sidecar{}",
                  JoinPath(world.project->root, project::kProjectFile), idle));
}

absl::StatusOr<std::shared_ptr<World>> ScanWorld(const Director& director, const Setup& setup,
                                                 const Cancellation& stop) {
  content::ScanOptions scan = OptionsOf(*setup.project);
  scan.stop = &stop;
  auto snapshot = content::Snapshot::Scan(scan);
  if (absl::IsCancelled(snapshot.status())) return Interrupted();
  if (!snapshot.ok()) return WrongUse(snapshot.status());
  std::shared_ptr<World> world = WorldOf(director, setup, *std::move(snapshot));
  auto table = ProjectCatalog::Build(world->snapshot, world->project, setup.resolver);
  if (!table.ok()) return WrongUse(table.status());
  world->table = *std::move(table);
  return world;
}

absl::StatusOr<std::shared_ptr<World>> MakeWorld(const Director& director, const Setup& setup,
                                                 const Cancellation& stop) {
  ASSIGN_OR_RETURN(std::shared_ptr<World> world, ScanWorld(director, setup, stop));
  RETURN_IF_ERROR(CheckPackages(*world));
  return world;
}

content::ScanOptions ScanOptionsOf(const Setup& setup) { return OptionsOf(*setup.project); }

absl::StatusOr<std::shared_ptr<World>> MakeRevisedWorld(const Director& director,
                                                        const Setup& setup, const JournalMeta& meta,
                                                        const WorldPtr& present,
                                                        const ChangedIn& changed_in) {
  if (meta.table_file.empty())
    return absl::FailedPreconditionError("no cook has looked at all files yet");
  const content::ScanOptions options = OptionsOf(*setup.project);
  const bool is_present =
      present != nullptr && present->table_id == meta.table_id && present->project == setup.project;
  std::unique_ptr<content::Snapshot> read;
  if (!is_present) {
    auto table = content::Snapshot::FromTable(
        JoinPath(setup.project->state_directory(), meta.table_file), options);
    if (!table.ok() || (*table)->identity() != meta.table_id)
      return absl::FailedPreconditionError("the files that the last cook saw are not known");
    read = *std::move(table);
  }
  const content::Snapshot& base = is_present ? *present->snapshot : *read;
  const std::vector<std::string> changed = changed_in(base);
  auto snapshot = base.Refresh(changed);
  if (!snapshot.ok()) return absl::FailedPreconditionError(snapshot.status().message());
  std::shared_ptr<World> world = WorldOf(director, setup, *std::move(snapshot));
  world->since.emplace(ChangesSince{.table_id = meta.table_id, .changes = {}, .touched = {}});
  world->since->changes = content::DiffSnapshots(base, *world->snapshot, &world->since->touched);
  world->since->is_of_bytes = world->snapshot->IsRevisionOf(base);
  auto table = ProjectCatalog::ByNeed(world->snapshot, world->project, setup.resolver,
                                      is_present ? present->table.get() : nullptr, changed);
  if (!table.ok()) return WrongUse(table.status());
  world->table = *std::move(table);
  return world;
}

}  // namespace galley::director
