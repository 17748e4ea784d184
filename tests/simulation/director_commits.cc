// SimDirector's promises: groups of results, roots.

#include <algorithm>

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
  unjournaled_.Add(effect);
  pending_commit_.insert(pending_commit_.end(), effect.items.begin(), effect.items.end());
  if (commits_running_ == 0) {
    After(deps_.random.Some(10), [this] {
      if (commits_running_ == 0) CommitPending();
    });
  }
}

// A job's result for a platform is committed once, however often it is reported (each report is
// another result here). A second job may bring the same key: its package was looked up again while
// the first commit was under way, or is forced. The store keeps the first of these. Nothing is
// cooked that was kept. (A job of an earlier cook, which was forced, may come late.)
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

// Equal work is cooked once, where nothing goes wrong; but what looks at its neighbours is cooked
// side by side when the first one lies elsewhere, and what wants cooked inputs when that turns out.
void SimDirector::CountEqual(const std::string& name, const StoredResult& stored) {
  const bool may_be_more =
      std::any_of(stored.observed.begin(), stored.observed.end(), [](const auto& one) {
        return one.what.kind == record::ObservationKind::kCooked ||
               (one.what.kind == record::ObservationKind::kFile &&
                !one.what.subject.starts_with('/'));
      });
  if (stored.last_cook.source != "cooked") return;
  // (A package's platforms may be shared out though one run would have served both.)
  const auto [first, is_first] = cooked_.emplace(stored.action_key, name);
  if (!is_first && first->second != name && !may_be_more && deps_.faults.are_none())
    deps_.checks.Break("safety: equal work was cooked twice: " + first->second + ", " + name);
}

// The worker of the result reports it again.
void SimDirector::Unaccept(ResultId result) {
  if (accepted_.erase(result) > 0) brought_.erase(told_by_.at(result));
}

void SimDirector::CommitPending() {
  RecordProgress();
  if (pending_commit_.empty()) return;
  ++commits_running_;
  PostTask(30, [this, persist = Persist{std::exchange(pending_commit_, {})}] {
    const absl::Time wall = Wall();
    CommitOutcome outcome = CommitGroup(
        fenced_, journal_, results_, persist, /*is_sent_back=*/false,
        [this](const StoredResult& stored) { return FilesStillHold(*commit_snapshot_, stored); },
        wall);
    Answer(20, [this, outcome = std::move(outcome)] {
      --commits_running_;
      unjournaled_.Remove(outcome.event);
      for (const Persisted::Item& item : outcome.event.items) {
        if (!outcome.event.error.empty() || !item.refused.empty()) {
          Unaccept(item.result);
        } else {
          reports_.TakeCommitted(results_.Get(item.result)->result);
        }
      }
      const bool was_cooking = has_request_;
      Step(outcome.event);
      // As in the shell: what ended after the cook did is the director's failure as well. (Workers
      // keep what they said, for the next.)
      if (!outcome.event.error.empty() && !was_cooking)
        callbacks_.ended({.infrastructure_error = outcome.event.error});
      if (commits_running_ == 0) CommitPending();
    });
  });
}

void SimDirector::Do(const BuildRoot& effect) {
  const std::string platform = snapshot_->platform_names().at(effect.platform);
  last_build_[platform] = effect;
  lost_since_built_.clear();
  CommitPending();
  PostTask(20, [this, effect, platform, cook = cook_snapshot_] {
    std::string text;
    std::map<std::string, Digest> tree;
    std::map<std::string, PackageId> names;
    std::vector<tree::TreeFile> files;
    std::vector<PackageId> owners;
    std::vector<RootBuilt::Lost> disputed;
    for (const auto& [package, id] : effect.packages) {
      const std::string& name = core_->NameOf(package);
      const StoredResultPtr stored = results_.Get(id);
      if (results_.IsDisputed(id)) {
        disputed.push_back({package, name, stored->action_key});
      } else if (store_.IsInDispute(stored->action_key)) {
        deps_.checks.Break("safety: in dispute, and in the root: " + name);
      }
      names[name] = package;
      tree[name] = stored->result.outputs.at(0).digest;
      files.push_back({name, tree[name], false});
      owners.push_back(package);
      text += name + " = " + tree[name].ToString() + "\n";
      if (!deps_.world.IsExpected(tree[name], name, platform, cook->files()))
        deps_.checks.Break("safety: a wrong result in the root: " + name);
      if (!store_.IsSafe(stored->action_key) && !deps_.checks.voided.contains(stored->action_key))
        deps_.checks.Break("safety: a result in the root is not durable: " + name);
    }
    deps_.checks.Trace(text);
    RootBuilt built{effect.platform, Digest::Of(text), {}, effect.platform_set};
    built.round = effect.round;
    built.request = effect.request;
    for (const auto& [a, b] : deps_.world.conflicts) {
      if (names.contains(a) && names.contains(b))
        built.conflicts.push_back({names[a], names[b], "x", "the same path"});
    }
    absl::Status status = fenced_.Put(built.root, text);
    if (status.ok() && built.conflicts.empty()) {
      built.lost = disputed;
      if (disputed.empty() && !IsWhole(platform, built.root))
        built.lost = *LostFiles(store_, files, owners);
      CheckLost(built.lost);
      std::set<Digest> told;
      for (const tree::TreeFile& file : files) {
        told.insert(file.digest);
        if (const auto place = store_.LocationOf(file.digest))
          deps_.checks.told_at[file.digest] = *place;
      }
      for (const RootBuilt::Lost& one : built.lost) told.erase(one.digest);
      told_.insert(told.begin(), told.end());
      status = DistrustLost(journal_, results_, effect.packages, built.lost).status();
    }
    if (!status.ok()) {
      built.error = std::string(status.message());
      return Answer(10, [this, built] { Step(built); });
    }
    if (built.lost.empty() && HasPlatform(platform)) roots_[platform] = tree;
    if (built.conflicts.empty()) built_[platform] = built.root;
    Answer(10, [this, built, effect, platform] {
      if (!built.lost.empty()) TakeLost(effect, platform, built.lost);
      Step(built);
    });
  });
}

// The cook is open again, if it is not about to end.
void SimDirector::TakeLost(const BuildRoot& effect, const std::string& platform,
                           std::span<const RootBuilt::Lost> lost) {
  const auto last = last_build_.find(platform);
  if (!has_request_ || is_ending_ || is_publishing_ || last == last_build_.end() ||
      last->second.round != effect.round || last->second.platform_set != effect.platform_set)
    return;
  deps_.faults.Count(Fault::kUnaskedCollected);
  std::vector<std::string> names;
  for (const RootBuilt::Lost& one : lost) {
    deps_.checks.Trace("lost before it was published: " + one.path);
    names.push_back(one.path);
  }
  own_faults_->Change(WithReaders(names));
  last_build_.clear();
  TakeIntoCook({});
}

void SimDirector::Do(const PublishRoot& effect) {
  deps_.checks.Trace("publish", effect.platform);
  is_publishing_ = has_published_ = true;
  const std::string platform = snapshot_->platform_names().at(effect.platform);
  if (built_[platform] != effect.root)
    deps_.checks.Break("safety: another root was published than was built last");
  PostTask(20, [this, effect, platform, build = last_build_[platform]] {
    RootPublished event{.platform = effect.platform,
                        .error = "",
                        .platform_set = effect.platform_set,
                        .round = effect.round,
                        .request = effect.request};
    const auto sequence = fenced_.Publish({.project_id = "project",
                                           .platform = platform,
                                           .root = effect.root,
                                           .by_the_book = effect.by_the_book,
                                           .time = Wall()});
    if (sequence.ok()) {
      std::vector<std::pair<std::string, std::optional<Digest>>> keys;
      for (const auto& [package, result] : build.packages)
        keys.emplace_back(core_->NameOf(package), results_.Get(result)->action_key);
      (void)journal_.RecordPublished(
          platform,
          {.sequence = *sequence, .root = effect.root, .loss_epoch = journal_.meta().loss_epoch},
          keys);
    } else {
      event.error = "publishing the root: " + std::string(sequence.status().message());
    }
    Answer(10, [this, event] { Step(event); });
  });
}

}  // namespace galley::simulation
