// SimDirector's promises: groups of results, and roots.

#include <algorithm>
#include <utility>

#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

void SimDirector::Do(const Persist& effect) {
  for (const Persist::Item& item : effect.items) {
    deps_.checks.Trace("persist " + core_->NameOf(item.package), item.platform, item.result.value(),
                       item.was_cooked);
    if (item.was_cooked) Accept(item);
    if (item.was_cooked) continue;
    const auto cooked = cooked_.find(results_.Get(item.result)->action_key);
    found_equal_ += cooked != cooked_.end() && cooked->second != core_->NameOf(item.package);
  }
  own_->commits.Persist(effect);
}

// A job's result for a platform is committed once, however often it is reported; each report is
// another result here. A second job may bring the same key: its package was looked up again while
// the first commit was under way, or is forced. The store keeps the first result. Nothing is cooked
// again that was kept. A forced job of an earlier cook may come late.
void SimDirector::Accept(const Persist::Item& item) {
  const std::string& name = core_->NameOf(item.package);
  for (const record::Output& output : results_.Get(item.result)->result.outputs) {
    if (deps_.checks.wrong.contains(output.digest))
      deps_.checks.Break("safety: what only one worker made is committed: " + name);
  }
  if (!accepted_.insert(item.result).second || !brought_.insert(told_by_.at(item.result)).second)
    deps_.checks.Break("safety: committed twice: " + name);
  const bool are_some_forced = is_forced_ || deps_.faults.Has(Fault::kCookedOtherwise);
  if (!are_some_forced && !excused_.contains(item.result) &&
      kept_.contains(results_.Get(item.result)->action_key))
    deps_.checks.Break("safety: cooked again though it was kept: " + name);
  CountEqual(name, *results_.Get(item.result));
}

// Without faults, equal work is cooked only once. Exceptions: a package that looks at its
// neighbours is cooked beside the first one if the first one turns out to lie elsewhere, and so is
// a package that turns out to want cooked inputs.
void SimDirector::CountEqual(const std::string& name, const StoredResult& stored) {
  const bool may_be_more = std::ranges::any_of(stored.observed, [](const auto& one) {
    return one.what.kind == record::ObservationKind::kCooked ||
           (one.what.kind == record::ObservationKind::kFile && !one.what.subject.starts_with('/'));
  });
  if (stored.last_cook.source != "cooked") return;
  // A package's platforms may be shared out though a single run would have served both.
  const auto [first, is_first] = cooked_.emplace(stored.action_key, name);
  if (!is_first && first->second != name && !may_be_more && deps_.faults.are_none())
    deps_.checks.Break("safety: equal work was cooked twice: " + first->second + ", " + name);
}

// The worker of a result that is not durable reports the result again.
void SimDirector::Take(const Persisted& persisted) {
  for (const Persisted::Item& item : persisted.items) {
    if (persisted.error.empty() && item.refused.empty()) continue;
    if (accepted_.erase(item.result) > 0) brought_.erase(told_by_.at(item.result));
  }
}

// Does what DirectorShell's loop does.
void SimDirector::BeginCommits() {
  own_->commits.BeginDue(core_->has_jobs());
  const absl::Time next = own_->commits.NextBegin(core_->has_jobs());
  const absl::Time now = deps_.schedule.now();
  if (next == absl::InfiniteFuture() || wakes_at_ > now) return;
  wakes_at_ = std::max(next, now + absl::Milliseconds(1));
  After(wakes_at_ - now, [this] { BeginCommits(); });
}

// ------------------------------------------------------------------ roots

void SimDirector::Do(const BuildRoot& effect) {
  Building& building =
      last_build_[RootName(effect.request, effect.platform)] = {.effect = effect, .tree = {}};
  for (const auto& [package, id] : effect.packages)
    building.tree[core_->NameOf(package)] = results_.Get(id)->result.outputs.at(0).digest;
  lost_since_built_.clear();
  const size_t posted = tasks_.posted();
  own_->roots.Build(effect);
  if (tasks_.posted() == posted) return;  // the cook is over
  const auto check = [this, effect, cook = SnapshotOf(effect),
                      platform = snapshot_->platform_names().at(effect.platform)] {
    if (!is_overtaken_) CheckBuild(effect, platform, cook);
  };
  // A task of the commits posts the task that builds a whole root.
  if (effect.is_difference) return tasks_.Behind(check);
  tasks_.Behind([this, check] { root_tasks_.Behind(check); });
}

// The name by which the checks know a root: each of several cooks has a root of its own.
std::string SimDirector::RootName(uint64_t request, const std::string& platform) const {
  return deps_.has_several ? std::to_string(request) + " " + platform : platform;
}

// The files of the cook: later changes than its first root belong to the next cook.
SimDirector::SnapshotPtr SimDirector::SnapshotOf(const BuildRoot& effect) {
  if (!deps_.has_several) return cook_snapshot_;
  SnapshotPtr& settled = settled_[{effect.request, effect.round, effect.is_difference}];
  if (settled == nullptr) settled = snapshot_;
  return settled;
}

// Called in the turn in which the root was built.
void SimDirector::CheckBuild(const BuildRoot& effect, const std::string& platform,
                             const SnapshotPtr& cook) {
  std::string text;
  for (const auto& [package, id] : effect.packages) {
    const std::string& name = core_->NameOf(package);
    const StoredResultPtr stored = results_.Get(id);
    const Digest& output = stored->result.outputs.at(0).digest;
    if (!results_.IsDisputed(id) && store_.IsInDispute(stored->action_key))
      deps_.checks.Break("safety: in dispute, and in the root: " + name);
    if (!deps_.world.IsExpected(output, name, platform, cook->files()))
      deps_.checks.Break("safety: a wrong result in the root: " + name);
    if (!store_.IsSafe(stored->action_key) && !deps_.checks.voided.contains(stored->action_key))
      deps_.checks.Break("safety: a result in the root is not durable: " + name);
    text += name + " = " + output.ToString() + "\n";
    if (const auto place = store_.LocationOf(output)) {
      told_.insert(output);
      deps_.checks.told_at[output] = *place;
    }
  }
  deps_.checks.Trace(text);
}

void SimDirector::Take(const RootBuilt& built) {
  if (!built.error.empty()) return;
  CheckLost(built.lost);
  for (const auto& [platform, building] : last_build_) {
    const BuildRoot& effect = building.effect;
    if (effect.platform != built.platform || effect.platform_set != built.platform_set ||
        effect.round != built.round || effect.request != built.request)
      continue;
    // A root of a difference has other files beside those.
    if (effect.is_difference) {
      trees_.erase(platform);
    } else if (built.lost.empty() && (deps_.has_several || HasPlatform(platform))) {
      trees_[platform] = building.tree;
    }
    if (built.conflicts.empty()) built_[platform] = built.root;
    if (!built.lost.empty()) TakeLost(built, platform);
    return;
  }
}

// Opens the cook again, if it is not about to end.
void SimDirector::TakeLost(const RootBuilt& built, const std::string& platform) {
  if (!has_request_ || is_ending_ || is_publishing_ || !last_build_.contains(platform)) return;
  deps_.faults.Count(Fault::kUnaskedCollected);
  std::vector<std::string> names;
  for (const RootBuilt::Lost& one : built.lost) {
    names.push_back(core_->NameOf(one.package));
    deps_.checks.Trace("lost before it was published: " + names.back());
  }
  own_faults_->Change(WithReaders(names));
  last_build_.clear();
  TakeIntoCook({});
}

void SimDirector::Do(const PublishRoot& effect) {
  deps_.checks.Trace("publish", effect.platform);
  is_publishing_ = has_published_ = true;
  publishing_[{effect.platform_set, effect.platform}] =
      snapshot_->platform_names().at(effect.platform);
  if (built_[RootName(effect.request, effect.platform)] != effect.root)
    deps_.checks.Break("safety: another root was published than was built last");
  const size_t posted = tasks_.posted();
  own_->roots.Publish(effect);
  if (!deps_.has_several || tasks_.posted() == posted) return;
  tasks_.Behind(
      [this, request = effect.request, platform = snapshot_->platform_names().at(effect.platform)] {
        if (!is_overtaken_) CheckLatest(platform, request);
      });
}

// A published root is not empty, and not the one that was there already.
void SimDirector::Take(const RootPublished& published) {
  if (!published.error.empty() || is_overtaken_) return;
  const std::string& platform = publishing_.at({published.platform_set, published.platform});
  const auto tree = trees_.find(RootName(published.request, platform));
  if (tree == trees_.end()) newest_.erase(platform);
  // A root without a file is not published.
  if (tree != trees_.end() && !tree->second.empty()) newest_[platform] = tree->second;
  std::map<std::string, const store::PublishedRoot*> newer;
  const std::vector<store::PublishedRoot> roots = *store_.Roots("project");
  for (const store::PublishedRoot& root : roots) {
    if (root.root == Digest::Of("")) deps_.checks.Break("safety: an empty root is published");
    const store::PublishedRoot*& later = newer[root.platform];
    if (later != nullptr && later->root == root.root && later->by_the_book == root.by_the_book)
      deps_.checks.Break("safety: a root is published twice");
    later = &root;
  }
}

// Called in the turn in which a root of the cook was published. A root of older files never becomes
// the latest (docs/core.md).
void SimDirector::CheckLatest(const std::string& platform, uint64_t request) {
  // The record of the latest root may have lain in a segment that was destroyed.
  if (!deps_.checks.destroyed_segments.empty()) return;
  const std::vector<store::PublishedRoot> roots = *store_.Roots("project");  // newest first
  const auto latest = std::ranges::find_if(
      roots, [&](const auto& one) { return one.platform == platform && one.by_the_book; });
  const auto cook =
      std::ranges::find_if(asked_, [&](const auto& one) { return one->number() == request; });
  if (latest == roots.end() || cook == asked_.end() || !(*cook)->judged) return;
  Latest& known = latest_[platform];
  if (latest->sequence == std::exchange(known.sequence, latest->sequence)) return;
  if (!(*cook)->order.request.by_the_book) return;  // an earlier director's root
  const uint64_t world = (*cook)->judged->world->number;
  if (world < known.world) deps_.checks.Break("safety: a root of older files became the latest");
  known.world = world;
}

}  // namespace galley::simulation
