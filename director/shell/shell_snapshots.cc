// DirectorShell's successor snapshots: files that change under a cook.

#include <algorithm>
#include <future>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/status_macros.h"
#include "director/core/platforms.h"
#include "director/shell/changed_packages.h"
#include "director/shell/changed_platforms.h"
#include "director/shell/director_shell.h"
#include "director/shell/lost_files.h"
#include "director/shell/project_sources.h"
#include "director/shell/renamed_packages.h"
#include "director/shell/snapshot_tables.h"
#include "director/shell/worker_messages.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

bool HasNew(const std::vector<content::Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const content::Change& change) {
    return !change.was_there && change.is_there;
  });
}

}  // namespace

// Commit thread: makes `world` the successor that the journal is of: its number, its table, and
// what is not trusted any more. In order with the commits, so that every record of the journal was
// made in the snapshot that is its base.
absl::Status DirectorShell::Establish(World& world, std::vector<std::string>& affected,
                                      JournalMeta meta) {
  // (The record of a world that could not be made durable may come back after a crash, and names a
  // table: no other table is written over that one.)
  world.number = ++worlds_made_;
  meta.table_file = SnapshotTableName(options_.core.term, world.number);
  world.table_file = JoinPath(options_.state_directory, meta.table_file);
  if (options_.may_write) RETURN_IF_ERROR(options_.may_write());
  world.table_id = fmt::format("{}.{}", commit_world_->table_id, world.number);
  meta.table_id = world.table_id;
  RETURN_IF_ERROR(world.snapshot->WriteTable(world.table_file, world.table_id));
  if (journal_.MadeAnew()) {
    // The new journal does not know the results that this director took from the old one.
    for (const auto* names : {&commit_world_->table->names(), &world.table->names()})
      affected.insert(affected.end(), names->begin(), names->end());
    for (std::string& name : commit_world_->table->GeneratedNames())
      affected.push_back(std::move(name));
  }
  std::sort(affected.begin(), affected.end());
  affected.erase(std::unique(affected.begin(), affected.end()), affected.end());
  return journal_.Invalidate(affected, meta);
}

// Commit thread: files that a cook met which are others now.
absl::StatusOr<DirectorShell::Successor> DirectorShell::MakeSuccessor(
    const std::vector<std::string>& paths) {
  const WorldPtr old = commit_world_;
  auto world = std::make_shared<World>(*old);
  ASSIGN_OR_RETURN(std::unique_ptr<content::Snapshot> snapshot, old->snapshot->Refresh(paths));
  world->snapshot = std::move(snapshot);
  ASSIGN_OR_RETURN(world->table,
                   ProjectCatalog::ByNeed(world->snapshot, old->project, old->table->resolver(),
                                          old->table_options, old->table.get(), paths));
  std::vector<content::Change> changes;
  for (const std::string& path : paths) {
    changes.push_back({.path = path,
                       .was_there = old->snapshot->Find(path) != nullptr,
                       .is_there = world->snapshot->Find(path) != nullptr});
  }
  FilesChanged event;
  ASSIGN_OR_RETURN(event.packages, ChangedPackages(journal_, changes));
  if (journal_.MadeAnew()) event.packages.insert(event.packages.end(), paths.begin(), paths.end());
  RETURN_IF_ERROR(Establish(*world, event.packages, journal_.meta()));
  event.catalog = world->table;
  event.paths = paths;
  commit_world_ = world;
  Successor successor{
      .world = std::move(world), .event = std::move(event), .has_new = HasNew(changes)};
  AskForNew(successor);
  return successor;
}

// Commit thread: all files, as a new scan found them; and what the store lost since.
absl::StatusOr<DirectorShell::Successor> DirectorShell::MakeSuccessorOf(
    std::shared_ptr<World> scanned) {
  const WorldPtr old = commit_world_;
  const bool is_known = scanned->since && scanned->since->table_id == old->table_id;
  const std::vector<content::Change> changes =
      is_known ? scanned->since->changes : content::Difference(*old->snapshot, *scanned->snapshot);
  FilesChanged event;
  ASSIGN_OR_RETURN(event.packages, ChangedPackages(journal_, changes));
  if (old->project != scanned->project) {
    std::vector<std::string> different = scanned->table->DifferentFrom(*old->table);
    event.packages.insert(event.packages.end(), different.begin(), different.end());
  }
  JournalMeta meta = journal_.meta();
  ASSIGN_OR_RETURN(const store::StoreInfo info, store_.Info());
  if (info.loss_epoch != meta.loss_epoch || info.commits < meta.store_commits) {
    ASSIGN_OR_RETURN(const std::vector<std::string> lost, PackagesThatLost(journal_, store_));
    event.packages.insert(event.packages.end(), lost.begin(), lost.end());
    meta.loss_epoch = info.loss_epoch;
  }
  meta.store_commits = info.commits;
  const bool is_touched = is_known && !scanned->since->touched.empty();
  if (changes.empty() && !is_touched && event.packages.empty() &&
      old->project == scanned->project && old->table_options == scanned->table_options)
    return Successor{old, {}};
  RETURN_IF_ERROR(Establish(*scanned, event.packages, meta));
  event.catalog = scanned->table;
  event.renamed = RenamedPackages(changes, *old, *scanned);
  commit_world_ = scanned;
  Successor successor{.world = std::move(scanned),
                      .event = std::move(event),
                      .has_new = HasNew(changes) || old->project != commit_world_->project};
  AskForNew(successor);
  return successor;
}

// Commit thread: the cooks that run are asked what they ask for among the new files.
void DirectorShell::AskForNew(Successor& successor) const {
  if (!successor.has_new) return;
  for (const auto& seat : seats_.All()) AskForNew(*seat, successor);
}

void DirectorShell::AskForNew(const CookSeat& seat, Successor& successor) {
  if (!seat.order.select || !successor.asked.insert(seat.number()).second) return;
  absl::flat_hash_set<std::string_view> known;
  for (const SelectedPackage& one : seat.order.request.selected) known.insert(one.name);
  PackagesDiscovered found{.request = seat.number()};
  for (SelectedPackage& one : seat.order.select(*successor.world)) {
    if (!known.contains(one.name)) found.packages.push_back(std::move(one));
  }
  if (!found.packages.empty()) successor.event.discovered.push_back(std::move(found));
}

absl::StatusOr<WorldPtr> DirectorShell::Follow(std::shared_ptr<World> scanned) {
  std::promise<absl::Status> made;
  std::future<absl::Status> told = made.get_future();
  commit_thread_.Post([this, &made, scanned = std::move(scanned)]() mutable {
    auto successor = MakeSuccessorOf(std::move(scanned));
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
  const ProjectSources sources(world, tools_);
  for (std::string& package : commits_.Outdated(
           [&](const StoredResult& stored) { return FilesStillHold(sources, stored); }))
    packages.push_back(std::move(package));
  std::sort(packages.begin(), packages.end());
  packages.erase(std::unique(packages.begin(), packages.end()), packages.end());
  const std::vector<std::string> attached = workers_.Names();
  v1::ToWorker message;
  *message.mutable_snapshot() =
      SnapshotMessage(world->number, world->table_file, world->project->platforms);
  for (const std::string& worker : attached) service_->Send(worker, message);
  // (A cook may have begun since the others were asked.)
  AskForNew(successor);
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
    auto successor = MakeSuccessor(paths);
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
