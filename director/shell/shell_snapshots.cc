// DirectorShell's successor snapshots: files that change under a cook.

#include <algorithm>

#include "common/base/status_macros.h"
#include "director/shell/changed_packages.h"
#include "director/shell/director_shell.h"
#include "director/shell/project_sources.h"
#include "director/shell/snapshot_tables.h"
#include "fmt/format.h"

namespace galley::director {

// Runs on the commit thread, in order with the commits, so that every record of the journal was
// made in the snapshot that is its base.
absl::StatusOr<DirectorShell::Successor> DirectorShell::MakeSuccessor(
    const std::vector<std::string>& paths) {
  const WorldPtr old = commit_world_;
  auto world = std::make_shared<World>(*old);
  // (The record of a world that could not be made durable may come back after a crash, and names a
  // table: no other table is written over that one.)
  world->number = ++worlds_made_;
  ASSIGN_OR_RETURN(std::unique_ptr<content::Snapshot> snapshot, old->snapshot->Refresh(paths));
  world->snapshot = std::move(snapshot);
  ASSIGN_OR_RETURN(world->table, ProjectCatalog::Build(world->snapshot, old->project,
                                                       old->table->resolver(), options_.table));
  const std::string table_name = SnapshotTableName(options_.core.term, world->number);
  world->table_file = JoinPath(options_.state_directory, table_name);
  if (options_.may_write) RETURN_IF_ERROR(options_.may_write());
  world->table_id = fmt::format("{}.{}", old->table_id, world->number);
  RETURN_IF_ERROR(world->snapshot->WriteTable(world->table_file, world->table_id));
  std::vector<content::Change> changes;
  for (const std::string& path : paths) {
    changes.push_back({.path = path,
                       .was_there = old->snapshot->Find(path) != nullptr,
                       .is_there = world->snapshot->Find(path) != nullptr});
  }
  FilesChanged event;
  ASSIGN_OR_RETURN(event.packages, ChangedPackages(journal_, changes));
  if (journal_.MadeAnew()) {
    // The new journal does not know the results that this cook took from the old one.
    event.packages = old->table->names();
    for (std::string& name : old->table->GeneratedNames())
      event.packages.push_back(std::move(name));
    for (const std::string& path : paths) event.packages.push_back(path);
    std::sort(event.packages.begin(), event.packages.end());
    event.packages.erase(std::unique(event.packages.begin(), event.packages.end()),
                         event.packages.end());
  }
  JournalMeta meta = journal_.meta();
  meta.table_file = table_name;
  meta.table_id = world->table_id;
  RETURN_IF_ERROR(journal_.Invalidate(event.packages, meta));
  event.catalog = world->table;
  event.paths = paths;
  commit_world_ = world;
  return Successor{std::move(world), std::move(event)};
}

// Loop thread: from here on look-ups, reports and jobs are of the new snapshot.
void DirectorShell::TakeSuccessor(Successor successor) {
  const WorldPtr world = successor.world;
  world_.Set(world);
  std::vector<std::string>& packages = successor.event.packages;
  const ProjectSources sources(world, tools_);
  for (std::string& package : unjournaled_.Outdated(
           [&](const StoredResult& stored) { return FilesStillHold(sources, stored); }))
    packages.push_back(std::move(package));
  std::sort(packages.begin(), packages.end());
  packages.erase(std::unique(packages.begin(), packages.end()), packages.end());
  std::map<std::string, uint64_t> attached;
  {
    base::MutexLock lock(mutex_);
    attached = segment_used_;
  }
  v1::ToWorker message;
  message.mutable_snapshot()->set_number(world->number);
  message.mutable_snapshot()->set_table_file(world->table_file);
  for (const auto& [worker, segment] : attached) service_->Send(worker, message);
  StepCore(successor.event);
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
