// SimDirector's snapshots: files and platforms that change during a cook.

#include <algorithm>

#include "common/base/sort_unique.h"
#include "director/shell/changed_packages.h"
#include "director/shell/changed_platforms.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

SimDirector::SnapshotPtr SimDirector::MakeSnapshot(uint64_t number, const std::string& file,
                                                   Files files,
                                                   std::vector<std::string> platforms) {
  SnapshotTable& table = deps_.tables[file] = {std::move(files), std::move(platforms)};
  return std::make_shared<Snapshot>(deps_.world, number, file, table);
}

std::vector<content::Change> SimDirector::ChangesOf(const Files& before, const Files& after) {
  std::vector<content::Change> changes;
  for (const auto& [name, bytes] : before) {
    const auto now = after.find(name);
    if (now == after.end() || now->second != bytes)
      changes.push_back({.path = name, .was_there = true, .is_there = now != after.end()});
  }
  for (const auto& [name, bytes] : after) {
    if (!before.contains(name))
      changes.push_back({.path = name, .was_there = false, .is_there = true});
  }
  return changes;
}

SimDirector::SnapshotPtr SimDirector::Successor(Files files, std::vector<std::string> platforms) {
  const uint64_t number = ++snapshots_made_;
  return MakeSnapshot(
      number, "snapshot-" + std::to_string(term()) + "." + std::to_string(number) + ".table",
      std::move(files), std::move(platforms));
}

WorldPtr SimDirector::WorldOf(const Snapshot& snapshot) {
  const auto world = std::make_shared<director::World>();
  world->number = snapshot.number();
  world->table_file = snapshot.table();
  return world;
}

void SimDirector::MakeSuccessor(const std::vector<std::string>& paths,
                                const std::vector<std::string>& asked,
                                std::vector<World::Renamed> renamed) {
  const SnapshotPtr before = commit_snapshot_;
  Files files = before->files();
  std::vector<content::Change> changes;
  for (const std::string& path : paths) {
    const std::optional<std::string> bytes = deps_.world.BytesOf(path);
    changes.push_back(
        {.path = path, .was_there = files.contains(path), .is_there = bytes.has_value()});
    files.erase(path);
    if (bytes) files[path] = *bytes;
  }
  // For this director a file was not renamed that its snapshot never held under the old name.
  std::erase_if(renamed, [&](const World::Renamed& one) {
    const auto from = before->files().find(one.from);
    return from == before->files().end() ||
           World::NameIn(files, World::IdIn(from->second)) != one.to;
  });
  const SnapshotPtr successor = Successor(std::move(files), before->platform_names());
  const absl::StatusOr<std::vector<std::string>> changed = ChangedPackages(journal_, changes);
  const std::vector<std::string> affected = changed.value_or(std::vector<std::string>());
  JournalMeta meta = journal_.meta();
  meta.table_file = successor->table();
  if (!changed.ok() || !journal_.Invalidate(affected, meta).ok())
    return Step(DirectorUnfit{"taking a new snapshot: the journal"});
  commit_snapshot_ = successor;
  Answer(10, [this, successor, asked, affected, renamed] {
    TakeSuccessor(successor, {.packages = affected, .paths = asked, .renamed = renamed});
  });
}

void SimDirector::TakeSuccessor(const SnapshotPtr& successor, FilesChanged event) {
  snapshot_ = successor;
  world_ = WorldOf(*successor);
  event.catalog = successor->catalog();
  TakeIntoCook(event.renamed);
  std::vector<std::string>& packages = event.packages;
  for (std::string& package : own_->commits.Outdated(
           [this](const StoredResult& stored) { return FilesStillHold(*snapshot_, stored); }))
    packages.push_back(std::move(package));
  SortUnique(packages);
  Announce(snapshot_);
  for (const World::Renamed& one : event.renamed) deps_.checks.Trace(one.from + " is " + one.to);
  if (!event.renamed.empty() && has_request_) deps_.faults.Count(Fault::kFileRenamed);
  std::vector<std::string> changed = packages;
  for (const World::Renamed& one : event.renamed) changed.insert(changed.end(), {one.from, one.to});
  own_faults_->Change(WithReaders(std::move(changed)));
  Step(event);
}

// Once roots are built, the cook is settled: changes belong to the next cook, unless changed
// platforms or lost bytes open this cook again.
void SimDirector::TakeIntoCook(const std::vector<World::Renamed>& renamed) {
  late_renames_.push_back(renamed);
  if (!last_build_.empty()) return;
  cook_snapshot_ = snapshot_;
  for (const std::vector<World::Renamed>& all : std::exchange(late_renames_, {})) {
    std::set<std::string> names;
    for (const std::string& name : asked_for_) {
      const auto to = std::ranges::find_if(all, [&](const auto& one) { return one.from == name; });
      names.insert(to == all.end() ? name : to->to);
    }
    asked_for_ = std::move(names);
  }
}

void SimDirector::Announce(const SnapshotPtr& successor) {
  v1::ToWorker message;
  message.mutable_snapshot()->set_number(successor->number());
  message.mutable_snapshot()->set_table_file(successor->table());
  const auto streams = streams_;
  for (const auto& [worker, stream] : streams) Send(worker, message);
}

// The files stay the same; the table for workers says how platforms are numbered.
void SimDirector::ChangePlatforms(const std::vector<std::string>& platforms) {
  tasks_.PostWithin(20, [this, platforms] {
    const SnapshotPtr successor = Successor(commit_snapshot_->files(), platforms);
    JournalMeta meta = journal_.meta();
    meta.table_file = successor->table();
    if (!journal_.Invalidate({}, meta).ok())
      return Step(DirectorUnfit{"taking a new snapshot: the journal"});
    commit_snapshot_ = successor;
    Answer(10, [this, successor] {
      PlatformsChanged event{
          .catalog = successor->catalog(),
          .mapping = PlatformMapping(*snapshot_->platforms(), *successor->platforms()),
          .platform_count = static_cast<uint32_t>(successor->platform_names().size())};
      snapshot_ = successor;
      event.added = own_->cooks.AdoptPlatforms(*world_, PlatformMap(event.mapping));
      const bool are_more = !event.added.empty();
      deps_.checks.Trace("platforms change", event.platform_count, are_more);
      deps_.faults.Count(Fault::kPlatformsChanged);
      if (!is_publishing_) last_build_.clear();
      TakeIntoCook({});
      std::erase_if(trees_, [this](const auto& root) { return !HasPlatform(root.first); });
      if (are_more && has_request_ && !is_ending_ && !is_publishing_) own_faults_->AddPlatforms();
      Announce(snapshot_);
      Step(event);
    });
  });
}

bool SimDirector::HasPlatform(const std::string& name) const {
  const std::vector<std::string>& all = snapshot_->platform_names();
  return std::find(all.begin(), all.end(), name) != all.end();
}

bool SimDirector::HasAllPlatforms() const {
  return platform_count() == kPlatforms.size() && trees_.size() == kPlatforms.size() &&
         std::ranges::all_of(kPlatforms, [&](const std::string& name) {
           return trees_.contains(name) && HasPlatform(name);
         });
}

void SimDirector::Do(const Rescan& effect) {
  for (const std::string& path : effect.paths) deps_.checks.Trace("rescan " + path);
  tasks_.PostWithin(50, [this, paths = effect.paths] { MakeSuccessor(paths, paths, {}); });
}

void SimDirector::OnFilesEdited(const std::vector<std::string>& names) {
  tasks_.PostWithin(50, [this, names] { MakeSuccessor(names, {}, {}); });
}

void SimDirector::OnFilesRenamed(const std::vector<World::Renamed>& renamed) {
  tasks_.PostWithin(50, [this, renamed] {
    std::vector<std::string> paths;
    for (const World::Renamed& one : renamed) paths.insert(paths.end(), {one.from, one.to});
    MakeSuccessor(paths, {}, renamed);
  });
}

bool SimDirector::IsOutdated() const {
  const Files today = deps_.world.files();
  return cook_snapshot_->files() != today ||
         !std::ranges::all_of(asked_for_, [&](const std::string& name) {
           const auto file = today.find(name);
           return file != today.end() &&
                  std::find(deps_.world.selected.begin(), deps_.world.selected.end(),
                            World::IdIn(file->second)) != deps_.world.selected.end();
         });
}

bool SimDirector::HasAskedForAll() const {
  const Files today = deps_.world.files();
  return std::ranges::all_of(deps_.world.selected, [&](const std::string& id) {
    return asked_for_.contains(World::NameIn(today, id));
  });
}

}  // namespace galley::simulation
