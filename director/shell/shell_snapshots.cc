// DirectorShell goes over to a World that follows (WorldSuccession).

#include <algorithm>
#include <future>
#include <utility>

#include "common/base/status_macros.h"
#include "director/core/platforms.h"
#include "director/shell/changed_platforms.h"
#include "director/shell/director_shell.h"
#include "director/shell/project_sources.h"
#include "director/shell/quick_sources.h"
#include "director/shell/worker_messages.h"
#include "fmt/format.h"

namespace galley::director {

absl::StatusOr<WorldPtr> DirectorShell::Follow(std::shared_ptr<World> scanned) {
  std::promise<absl::Status> made;
  std::future<absl::Status> told = made.get_future();
  commit_thread_.Post([this, &made, scanned = std::move(scanned)]() mutable {
    auto successor = successors_.OfScan(std::move(scanned));
    if (!successor.ok()) return made.set_value(successor.status());
    if (successor->world != world_.Get())
      OnLoop([this, &successor] { TakeSuccessor(*std::move(successor)); });
    made.set_value(absl::OkStatus());
  });
  RETURN_IF_ERROR(told.get());
  return world_.Get();
}

// Loop thread: from here on look-ups, reports and jobs are of the new snapshot.
void DirectorShell::TakeSuccessor(Successor successor) {
  const WorldPtr world = successor.world;
  const WorldPtr before = world_.Get();
  world_.Set(world);
  std::vector<std::string>& packages = successor.event.packages;
  const auto sources = std::make_shared<ProjectSources>(world, tools_);
  for (std::string& package : commits_.Outdated([&](const StoredResult& stored) {
         return FilesHoldQuickly(sources, stored, stopping_);
       }))
    packages.push_back(std::move(package));
  std::sort(packages.begin(), packages.end());
  packages.erase(std::unique(packages.begin(), packages.end()), packages.end());
  const std::vector<std::string> attached = workers_.Names();
  v1::ToWorker message;
  *message.mutable_snapshot() =
      SnapshotMessage(world->number, world->table_file, world->project->platforms);
  for (const std::string& worker : attached) service_->Send(worker, message);
  // (A cook may have begun since the others were asked.)
  successors_.AskForNew(successor);
  if (IsSameNumbering(before->project->platforms, world->project->platforms))
    return StepCore(successor.event);
  TakePlatforms(*before, *world, std::move(successor.event));
}

// Cooks go on with the platforms of an edited galley.toml; but what is being published stays as it
// is.
void DirectorShell::TakePlatforms(const World& before, const World& world, FilesChanged files) {
  const std::vector<project::Platform>& platforms = world.project->platforms;
  PlatformsChanged event{.catalog = world.table,
                         .mapping = PlatformMapping(before.project->platforms, platforms),
                         .platform_count = static_cast<uint32_t>(platforms.size()),
                         .files = std::move(files)};
  const PlatformMap map(event.mapping);
  seats_.ForEach([&](CookSeat& seat) {
    if (seat.ended) return;
    const PlatformMask kept = map.Mask(seat.platforms);
    seat.platforms = kept;
    if (core_->is_publishing(seat.number())) return;
    seat.platforms = PlatformsIn(seat, world, kept);
    if (!seat.refusal.empty()) return;
    if (const PlatformMask added = seat.platforms & ~kept; added != 0)
      event.added.push_back({seat.number(), added});
    TellPlatforms(seat);
  });
  CancelRefused();
  StepCore(event);
}

void DirectorShell::Do(const Rescan& effect) {
  commit_thread_.Post([this, paths = effect.paths] {
    auto successor = successors_.OfPaths(paths);
    if (!successor.ok()) {
      Post(Event(
          DirectorUnfit{fmt::format("taking a new snapshot: {}", MessageOf(successor.status()))}));
      return;
    }
    Post(Internal([this, successor = std::move(*successor)]() mutable {
      TakeSuccessor(std::move(successor));
    }));
  });
}

}  // namespace galley::director
