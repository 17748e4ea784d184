#include "director/shell/world_succession.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "common/base/file.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "common/content/changes.h"
#include "director/shell/changed_packages.h"
#include "director/shell/lost_files.h"
#include "director/shell/renamed_packages.h"
#include "director/shell/snapshot_tables.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

bool HasNew(const std::vector<content::Change>& changes) {
  return std::ranges::any_of(
      changes, [](const content::Change& change) { return !change.was_there && change.is_there; });
}

void AskOne(const ActiveCook& cook, Successor& successor) {
  if (!cook.order.select || !successor.asked.insert(cook.number()).second) return;
  absl::flat_hash_set<std::string_view> known;
  for (const SelectedPackage& one : cook.order.request.selected) known.insert(one.name);
  PackagesDiscovered found{.request = cook.number()};
  for (SelectedPackage& one : cook.order.select(*successor.world)) {
    if (!known.contains(one.name)) found.packages.push_back(std::move(one));
  }
  if (!found.packages.empty()) successor.event.discovered.push_back(std::move(found));
}

}  // namespace

WorldSuccession::WorldSuccession(Options options, Deps deps, WorldPtr first)
    : options_(std::move(options)),
      deps_(deps),
      last_(std::move(first)),
      worlds_made_(last_->number) {}

// Makes `world` the successor in the journal: its number, its table, and what is no longer trusted.
absl::Status WorldSuccession::Establish(World& world, std::vector<std::string>& affected,
                                        JournalMeta meta) {
  // A world whose record could not be made durable may come back after a crash, and its record
  // names a table: no other table may be written over that table.
  world.number = ++worlds_made_;
  meta.table_file = SnapshotTableName(options_.term, world.number);
  world.table_file = JoinPath(options_.state_directory, meta.table_file);
  if (options_.may_write) RETURN_IF_ERROR(options_.may_write());
  world.table_id = fmt::format("{}.{}", last_->table_id, world.number);
  meta.table_id = world.table_id;
  RETURN_IF_ERROR(world.snapshot->WriteTable(world.table_file, world.table_id));
  if (deps_.journal.MadeAnew()) {
    // The new journal does not know the results that this director took from the old journal.
    for (const auto* names : {&last_->table->names(), &world.table->names()})
      affected.insert(affected.end(), names->begin(), names->end());
    for (std::string& name : last_->table->GeneratedNames()) affected.push_back(std::move(name));
  }
  SortUnique(affected);
  return deps_.journal.Invalidate(affected, meta);
}

absl::StatusOr<Successor> WorldSuccession::OfPaths(const std::vector<std::string>& paths) {
  const WorldPtr old = last_;
  // The new world has no `since`: that of the old one is of another table, and may be long.
  auto world =
      std::make_shared<World>(World{.project = old->project, .environment = old->environment});
  ASSIGN_OR_RETURN(std::unique_ptr<content::Snapshot> snapshot, old->snapshot->Refresh(paths));
  world->snapshot = std::move(snapshot);
  ASSIGN_OR_RETURN(world->table,
                   ProjectCatalog::ByNeed(world->snapshot, old->project, old->table->resolver(),
                                          old->table.get(), paths));
  std::vector<content::Change> changes;
  for (const std::string& path : paths) {
    changes.push_back({.path = path,
                       .was_there = old->snapshot->Find(path) != nullptr,
                       .is_there = world->snapshot->Find(path) != nullptr});
  }
  FilesChanged event;
  ASSIGN_OR_RETURN(event.packages, ChangedPackages(deps_.journal, changes));
  if (deps_.journal.MadeAnew())
    event.packages.insert(event.packages.end(), paths.begin(), paths.end());
  RETURN_IF_ERROR(Establish(*world, event.packages, deps_.journal.meta()));
  event.catalog = world->table;
  event.paths = paths;
  last_ = world;
  Successor successor{
      .world = std::move(world), .event = std::move(event), .has_new = HasNew(changes)};
  AskForNew(successor);
  return successor;
}

absl::StatusOr<Successor> WorldSuccession::OfScan(std::shared_ptr<World> scanned) {
  const WorldPtr old = last_;
  const bool is_known = scanned->since && scanned->since->table_id == old->table_id;
  const std::vector<content::Change> changes =
      is_known ? scanned->since->changes
               : content::DiffSnapshots(*old->snapshot, *scanned->snapshot);
  FilesChanged event;
  ASSIGN_OR_RETURN(event.packages, ChangedPackages(deps_.journal, changes));
  if (old->project != scanned->project) {
    std::vector<std::string> different = scanned->table->DifferentFrom(*old->table);
    event.packages.insert(event.packages.end(), different.begin(), different.end());
  }
  JournalMeta meta = deps_.journal.meta();
  ASSIGN_OR_RETURN(const store::StoreInfo info, deps_.store.Info());
  if (info.loss_epoch != meta.loss_epoch || info.commits < meta.store_commits) {
    ASSIGN_OR_RETURN(const std::vector<std::string> lost,
                     PackagesThatLost(deps_.journal, deps_.store));
    event.packages.insert(event.packages.end(), lost.begin(), lost.end());
    meta.loss_epoch = info.loss_epoch;
  }
  meta.store_commits = info.commits;
  const bool is_touched = is_known && !scanned->since->touched.empty();
  if (changes.empty() && !is_touched && event.packages.empty() && old->project == scanned->project)
    return Successor{old, {}};
  RETURN_IF_ERROR(Establish(*scanned, event.packages, meta));
  event.catalog = scanned->table;
  event.renamed = RenamedPackages(changes, *old, *scanned);
  last_ = scanned;
  Successor successor{.world = std::move(scanned),
                      .event = std::move(event),
                      .has_new = HasNew(changes) || old->project != last_->project};
  AskForNew(successor);
  return successor;
}

void WorldSuccession::AskForNew(Successor& successor) const {
  if (!successor.has_new) return;
  for (const auto& cook : deps_.cooks.All()) AskOne(*cook, successor);
}

absl::Status WorldSuccession::Remember() const {
  const content::Snapshot& files = *last_->snapshot;
  if (files.HasUnwrittenDigests())
    RETURN_IF_ERROR(files.WriteTable(last_->table_file, last_->table_id));
  if (files.IsCacheBehind()) RETURN_IF_ERROR(files.SaveDigestCache());
  return absl::OkStatus();
}

}  // namespace galley::director
