#include "director/shell/worlds.h"

#include <algorithm>
#include <future>
#include <utility>

#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "director/shell/changed_platforms.h"
#include "director/shell/project_sources.h"
#include "director/shell/quick_sources.h"
#include "director/shell/snapshot_tables.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

// A worker may take this long to open a new table: a worker that is silent for longer is lost
// (CookOptions::silence_max).
constexpr absl::Duration kTableMax = absl::Minutes(2);

}  // namespace

Worlds::Worlds(WorldSuccession::Options options, const Deps& deps, WorldPtr first)
    : options_(std::move(options)),
      deps_(deps),
      present_(first),
      of_core_(first),
      succession_(options_, {.store = deps_.store, .journal = deps_.journal, .cooks = deps_.cooks},
                  first) {}

SourcesPtr Worlds::Sources() const {
  return std::make_shared<ProjectSources>(present_.Get(), tools_, deps_.kept_sources);
}

bool Worlds::HoldsQuickly(const StoredResult& stored) const {
  return FilesHoldQuickly(Sources(), stored, stopping_);
}

std::function<bool(const StoredResult&)> Worlds::HoldsInLast() const {
  const auto last =
      std::make_shared<ProjectSources>(succession_.last(), tools_, deps_.kept_sources);
  const auto sources = std::make_shared<QuickSources>(
      QuickSources::Options{.sources = last, .stop = stopping_, .hashed_max = UINT64_MAX});
  return [sources](const StoredResult& stored) { return FilesStillHold(*sources, stored); };
}

void Worlds::Rescan(const director::Rescan& effect) {
  deps_.tasks.Post([this, paths = effect.paths] {
    auto successor = succession_.OfPaths(paths);
    if (!successor.ok()) {
      return deps_.inbox.PostEvent(
          DirectorUnfit{fmt::format("taking a new snapshot: {}", MessageOf(successor.status()))});
    }
    deps_.inbox.PostTask([this, successor = std::move(*successor)]() mutable {
      TakeSuccessor(std::move(successor));
    });
  });
}

absl::StatusOr<WorldPtr> Worlds::Follow(std::shared_ptr<World> scanned) {
  std::promise<absl::Status> made;
  std::future<absl::Status> told = made.get_future();
  deps_.tasks.Post([this, &made, scanned = std::move(scanned)]() mutable {
    auto successor = succession_.OfScan(std::move(scanned));
    if (!successor.ok()) return made.set_value(successor.status());
    const auto end = [&made] { made.set_value(absl::OkStatus()); };
    if (successor->world == present_.Get()) return end();
    deps_.inbox.RunOnLoop([this, next = *std::move(successor)] { TakeSuccessor(next); }, end);
  });
  RETURN_IF_ERROR(told.get());
  return present_.Get();
}

// From here on look-ups, reports and jobs use the new snapshot.
void Worlds::TakeSuccessor(Successor successor) {
  const WorldPtr world = successor.world;
  const WorldPtr before = present_.Get();
  present_.Set(world);
  std::vector<std::string>& packages = successor.event.packages;
  const auto sources = std::make_shared<ProjectSources>(world, tools_, deps_.kept_sources);
  for (std::string& package : deps_.commits.Outdated([&](const StoredResult& stored) {
         return FilesHoldQuickly(sources, stored, stopping_);
       }))
    packages.push_back(std::move(package));
  SortUnique(packages);
  deps_.announce(*world);
  // A cook may have begun since the others were asked.
  succession_.AskForNew(successor);
  if (IsSameNumbering(before->project->platforms, world->project->platforms)) {
    of_core_ = world;
    return deps_.inbox.HandleNow(successor.event);
  }
  TakePlatforms(*before, world, std::move(successor.event));
}

void Worlds::TakePlatforms(const World& before, const WorldPtr& present, FilesChanged files) {
  const World& world = *present;
  const std::vector<project::Platform>& platforms = world.project->platforms;
  PlatformsChanged event{.catalog = world.table,
                         .mapping = PlatformMapping(before.project->platforms, platforms),
                         .platform_count = static_cast<uint32_t>(platforms.size()),
                         .files = std::move(files)};
  event.added = deps_.adopt_platforms(world, PlatformMap(event.mapping));
  of_core_ = present;
  deps_.inbox.HandleNow(event);
}

absl::Status Worlds::Remember() {
  std::promise<absl::Status> remembered;
  std::future<absl::Status> told = remembered.get_future();
  deps_.tasks.Post([this, &remembered] { remembered.set_value(WriteDown()); });
  return told.get();
}

absl::Status Worlds::WriteDown() {
  if (options_.may_write) RETURN_IF_ERROR(options_.may_write());
  RETURN_IF_ERROR(succession_.Remember());
  ASSIGN_OR_RETURN(const store::StoreInfo info, deps_.store.Info());
  JournalMeta meta = deps_.journal.meta();
  meta.store_commits = info.commits;
  RETURN_IF_ERROR(deps_.journal.SetMeta(meta));
  RemoveOldTables(options_.state_directory, meta.table_file, deps_.clock.Now() - kTableMax);
  return absl::OkStatus();
}

}  // namespace galley::director
