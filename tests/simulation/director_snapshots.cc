// SimDirector's snapshots: files and platforms that change under a cook.

#include <algorithm>

#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

SimDirector::SnapshotPtr SimDirector::MakeSnapshot(uint64_t number, const std::string& file,
                                                   std::map<std::string, uint32_t> versions,
                                                   std::vector<std::string> platforms) {
  deps_.tables[file] = {versions, platforms};
  return std::make_shared<Snapshot>(
      Snapshot{number, file, std::move(versions), std::move(platforms)});
}

SimDirector::SnapshotPtr SimDirector::Successor(std::map<std::string, uint32_t> versions,
                                                std::vector<std::string> platforms) {
  const uint64_t number = commit_snapshot_->number + 1;
  return MakeSnapshot(
      number, "snapshot-" + std::to_string(term()) + "." + std::to_string(number) + ".table",
      std::move(versions), std::move(platforms));
}

bool SimDirector::FilesHold(const Snapshot& snapshot, const StoredResult& stored) const {
  if (deps_.world.IsFile(stored.package) && stored.source != SourceOf(snapshot, stored.package, {}))
    return false;
  return std::all_of(stored.observed.begin(), stored.observed.end(), [&](const auto& one) {
    std::string need;
    return one.what.kind != record::ObservationKind::kFile ||
           ValueOf(snapshot, one.what, stored.platform, stored.platform_name, {}, &need) ==
               one.value;
  });
}

void SimDirector::MakeSuccessor(const std::vector<std::string>& files,
                                const std::vector<std::string>& asked) {
  auto versions = commit_snapshot_->versions;
  std::vector<content::Change> changes;
  for (const std::string& file : files) {
    if (deps_.world.IsFile(file)) versions[file] = deps_.world.VersionOf(file);
    changes.push_back({.path = file, .was_there = true, .is_there = true});
  }
  const SnapshotPtr successor = Successor(std::move(versions), commit_snapshot_->platforms);
  const std::vector<std::string> affected = *journal_.Affected(changes);
  JournalMeta meta = journal_.meta();
  meta.table_file = successor->file;
  if (!journal_.Invalidate(affected, meta).ok())
    return Step(Persisted{.items = {}, .error = "taking a new snapshot: the journal"});
  commit_snapshot_ = successor;
  Answer(10, [this, successor, asked, affected] { TakeSuccessor(successor, asked, affected); });
}

void SimDirector::TakeSuccessor(const SnapshotPtr& successor, const std::vector<std::string>& paths,
                                std::vector<std::string> packages) {
  snapshot_ = successor;
  if (last_build_.empty()) cook_snapshot_ = successor;
  for (const ResultId id : unjournaled_) {
    const StoredResultPtr stored = results_.Get(id);
    if (!FilesHold(*snapshot_, *stored)) packages.push_back(stored->package);
  }
  std::sort(packages.begin(), packages.end());
  packages.erase(std::unique(packages.begin(), packages.end()), packages.end());
  Announce(snapshot_);
  Step(FilesChanged{deps_.catalog, packages, paths});
}

void SimDirector::Announce(const SnapshotPtr& successor) {
  v1::ToWorker message;
  message.mutable_snapshot()->set_number(successor->number);
  message.mutable_snapshot()->set_table_file(successor->file);
  const auto streams = streams_;
  for (const auto& [worker, stream] : streams) Send(worker, message);
}

// The files are the same; the table that the workers get says how platforms are numbered.
void SimDirector::ChangePlatforms(const std::vector<std::string>& platforms) {
  PostTask(20, [this, platforms] {
    const SnapshotPtr successor = Successor(commit_snapshot_->versions, platforms);
    JournalMeta meta = journal_.meta();
    meta.table_file = successor->file;
    if (!journal_.Invalidate({}, meta).ok())
      return Step(Persisted{.items = {}, .error = "taking a new snapshot: the journal"});
    commit_snapshot_ = successor;
    Answer(10, [this, successor] {
      PlatformsChanged event{.catalog = deps_.catalog,
                             .mapping = {},
                             .platform_count = static_cast<uint32_t>(successor->platforms.size())};
      PlatformMask kept = 0;
      for (const std::string& name : snapshot_->platforms) {
        const auto at = std::find(successor->platforms.begin(), successor->platforms.end(), name);
        event.mapping.emplace_back();
        if (at == successor->platforms.end()) continue;
        event.mapping.back() = static_cast<PlatformIndex>(at - successor->platforms.begin());
        kept |= MaskOf(*event.mapping.back());
      }
      event.added = (MaskOf(event.platform_count) - 1) & ~kept;
      deps_.checks.Trace("platforms change", event.platform_count, event.added);
      deps_.faults.Count(Fault::kPlatformsChanged);
      if (last_build_.empty()) cook_snapshot_ = successor;
      snapshot_ = successor;
      std::erase_if(roots_, [this](const auto& root) { return !HasPlatform(root.first); });
      Announce(snapshot_);
      Step(event);
    });
  });
}

bool SimDirector::HasPlatform(const std::string& name) const {
  const std::vector<std::string>& all = snapshot_->platforms;
  return std::find(all.begin(), all.end(), name) != all.end();
}

bool SimDirector::HasAllPlatforms() const {
  return platform_count() == kPlatforms.size() && roots_.size() == kPlatforms.size() &&
         std::all_of(kPlatforms.begin(), kPlatforms.end(), [&](const std::string& name) {
           return roots_.contains(name) && HasPlatform(name);
         });
}

void SimDirector::Do(const Rescan& effect) {
  for (const std::string& path : effect.paths) deps_.checks.Trace("rescan " + path);
  PostTask(50, [this, paths = effect.paths] { MakeSuccessor(paths, paths); });
}

void SimDirector::OnFileEdited(const std::string& name) {
  PostTask(50, [this, name] { MakeSuccessor({name}, {}); });
}

bool SimDirector::IsOutdated() const { return cook_snapshot_->versions != deps_.world.versions(); }

}  // namespace galley::simulation
