#include "director/resident/shown_trees.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "common/base/errors.h"
#include "common/base/log.h"
#include "common/base/sort_unique.h"
#include "common/base/status_macros.h"
#include "director/core/packages/package_data.h"
#include "director/shell/project_sources.h"
#include "director/shell/stage_path.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

std::vector<devices::NodeKey> KeysOf(const std::vector<std::string>& packages) {
  std::vector<devices::NodeKey> keys;
  for (const std::string& package : packages) keys.push_back(devices::NodeKeyOf(package));
  return keys;
}

}  // namespace

// ------------------------------------------------------------------ worlds

SourcesPtr ShownTrees::SourcesOf(const ShownWorld& shown) {
  return std::make_shared<ProjectSources>(shown.world, tools_, deps_.kept);
}

std::optional<WorldDifference> ShownTrees::Follow(absl::Time now) {
  const absl::StatusOr<WorldPtr> world = deps_.present.Get();
  deps_.shared.SetWhyNot(world.ok() ? "" : MessageOf(world.status()));
  if (!world.ok() || (present() != nullptr && *world == present()->world)) return std::nullopt;
  const absl::StatusOr<Digest> rules = deps_.present.RulesOf(**world);
  if (!rules.ok()) {
    deps_.shared.SetWhyNot(MessageOf(rules.status()));
    retry_at_ = std::min(retry_at_, now + kRetryInterval);
    return std::nullopt;
  }
  const Digest programs = std::exchange(programs_, deps_.present.ProgramsOf(**world));
  if (present() == nullptr) {
    Begin(ShowWorld(1, *world, *rules), {.is_all = true}, now);
    return WorldDifference{.is_all = true};
  }
  // Nobody knows which results a program has made that is another one now.
  WorldDifference difference =
      programs_ != programs ? WorldDifference{.is_all = true} : DifferenceTo(**world);
  ShownWorldPtr shown = ShowSuccessor(*world, *rules, difference);
  if (shown->number == present()->number) {
    held_.back() = shown;
    deps_.shared.ReplacePresent(shown);
  } else {
    Begin(std::move(shown), difference, now);
  }
  return difference;
}

// When somebody only touched a file, or wrote the same bytes again, devices see the same world.
ShownWorldPtr ShownTrees::ShowSuccessor(const WorldPtr& world, const Digest& rules,
                                        const WorldDifference& difference) const {
  const ShownWorld& before = *present();
  const bool is_same = difference.empty() && rules == before.rules;
  const uint64_t number = is_same ? before.number : before.number + 1;
  auto shown = std::make_shared<ShownWorld>(
      difference.is_all ? *ShowWorld(number, world, rules)
                        : *ShowNext(before, number, world, rules, difference.files));
  if (is_same) {
    shown->identity = before.identity;
  } else if (shown->identity == before.identity) {
    // A file that was edited within one tick of the clock has the stamp that it had.
    shown->identity = Digest::Of(fmt::format("{} {}", shown->identity.ToString(), number));
  }
  return shown;
}

WorldDifference ShownTrees::DifferenceTo(const World& world) const {
  const ShownWorldPtr before = present();
  bool is_any_gone = false;
  const auto referring = [&](const std::vector<std::string>& gone) {
    is_any_gone = true;
    std::vector<std::string> packages;
    for (const auto& [name, platform] : before->platforms) {
      for (std::string& one : deps_.cooked.TableOf(name)->ReferringTo(gone))
        packages.push_back(std::move(one));
    }
    SortUnique(packages);
    return packages;
  };
  WorldDifference difference = DifferenceOf(*before->world, world, deps_.journal, referring);
  // Some of these nodes may be of packages that refer to what is gone; and what a build finds to
  // stand in the older world is not known yet.
  if (is_any_gone && (has_unknown_nodes_ || is_building_)) return {.is_all = true};
  AddGenerated(difference.packages);
  if (difference.packages.size() > kDifferenceMax) return {.is_all = true};
  return difference;
}

// Adds what the packages had generated, and what that had: the journal may have the new lists of
// generators already.
void ShownTrees::AddGenerated(std::vector<std::string>& packages) const {
  const ShownWorld& before = *present();
  const project::Project& project = *before.world->project;
  for (const auto& [name, platform] : before.platforms) {
    deps_.cooked.TableOf(name)->AddGenerated(
        packages, [&](const std::string& package, const std::string& staged) {
          return package + staged.substr(StagePath(project, package).size());
        });
    SortUnique(packages);
  }
  for (const auto& [world_digest, audience] : trees_.TreesOf(before.number)) {
    const devices::DeviceViewPtr& view = trees_.Find(before.number, audience)->newest();
    for (size_t i = 0; view != nullptr && i < packages.size(); ++i) {
      const devices::DeviceNode* const node = view->nodes.Find(devices::NodeKeyOf(packages[i]));
      if (node == nullptr) continue;
      for (const std::string& generated : node->generated)
        packages.push_back(fmt::format("{}/{}", packages[i], generated));
    }
    SortUnique(packages);
  }
}

void ShownTrees::Begin(ShownWorldPtr shown, const WorldDifference& difference, absl::Time now) {
  // The newer trees begin with all that the older ones were given.
  Grow(now, /*is_awaited=*/true);
  if (!held_.empty()) NoteDifference(held_.back()->number, difference);
  held_.push_back(shown);
  DropOld();
  // From now on nobody sees older results of packages that differ.
  for (const auto& [name, platform] : shown->platforms) {
    const std::shared_ptr<CookedTable> table = deps_.cooked.TableOf(name);
    if (difference.is_all) {
      table->Clear();
      stale_.clear();
    } else {
      std::vector<std::string>& stale = stale_[name];
      for (std::string& package : table->Drop(difference.packages))
        stale.push_back(std::move(package));
      SortUnique(stale);
    }
  }
  if (difference.is_all) {
    has_standing_.clear();
    has_unknown_nodes_ = false;
  }
  std::erase_if(wanted_,
                [&](const devices::Audience& one) { return shown->Find(one.platform) == nullptr; });
  deps_.shared.BeginWorld(std::move(shown), now);
  CatchUp(now);
}

void ShownTrees::NoteDifference(uint64_t before, const WorldDifference& difference) {
  since_[before];
  for (auto& [number, since] : since_) {
    since.is_all = since.is_all || difference.is_all;
    since.packages.insert(since.packages.end(), difference.packages.begin(),
                          difference.packages.end());
    SortUnique(since.packages);
    // A step of more packages than that would hold up the turns.
    since.is_all = since.is_all || since.packages.size() > kDifferenceMax;
    if (since.is_all) since.packages.clear();
  }
}

void ShownTrees::DropOld() {
  while (held_.size() > deps_.worlds_max) held_.pop_front();
  const uint64_t oldest = held_.front()->number;
  std::erase_if(since_, [&](const auto& one) { return one.first < oldest; });
  std::erase_if(statics_, [&](const auto& one) { return one.first.first < oldest; });
  trees_.DropBefore(oldest);
}

ShownWorldPtr ShownTrees::HeldOf(uint64_t world) const {
  const auto found = std::ranges::find(held_, world, [](const auto& one) { return one->number; });
  return found == held_.end() ? nullptr : *found;
}

// ------------------------------------------------------------------ trees of the present world

std::set<devices::Audience> ShownTrees::Audiences() const {
  std::set<devices::Audience> audiences = wanted_;
  for (devices::Audience& one :
       deps_.shared.With([](devices::DeviceSessions& sessions) { return sessions.Audiences(); }))
    audiences.insert(std::move(one));
  std::erase_if(audiences, [&](const devices::Audience& one) {
    return present()->Find(one.platform) == nullptr;
  });
  return audiences;
}

absl::Status ShownTrees::Admit(const devices::Audience& audience) const {
  const std::set<devices::Audience> audiences = Audiences();
  if (audiences.contains(audience) || audiences.size() < kAudiencesMax) return absl::OkStatus();
  return ResourceExhaustedError("sessions of {} platforms and sets of cultures are open",
                                kAudiencesMax);
}

// A client that opens and closes sessions with ever other cultures leaves trees that nobody sees.
void ShownTrees::DropIdle() {
  const auto trees = trees_.TreesOf(present()->number);
  if (trees.size() < kAudiencesMax) return;
  const std::set<devices::Audience> audiences = Audiences();
  for (const auto& [world_digest, audience] : trees) {
    if (audiences.contains(audience)) continue;
    trees_.Drop(world_digest);
    untold_.erase(world_digest);
    owed_cut_.erase(audience);
    std::erase_if(unsaved_, [&, digest = world_digest](const DeviceTrees::Growth& one) {
      return one.view->world_digest == digest;
    });
    deps_.shared.DropTree(audience, world_digest);
  }
}

absl::Status ShownTrees::Want(const devices::Audience& audience, absl::Time now) {
  if (HasTree(audience)) {
    wanted_.insert(audience);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(Admit(audience));
  DropIdle();
  wanted_.insert(audience);
  CatchUp(now);
  return absl::OkStatus();
}

bool ShownTrees::HasTree(const devices::Audience& audience) const {
  if (held_.empty()) return false;
  const devices::DeviceTree* const tree = trees_.Find(held_.back()->number, audience);
  return tree != nullptr && tree->newest() != nullptr &&
         std::ranges::none_of(unsaved_, [&](const DeviceTrees::Growth& one) {
           return one.view->world_digest == tree->newest()->world_digest && one.view->growth == 1;
         });
}

void ShownTrees::CatchUp(absl::Time now) {
  if (held_.empty() || deps_.stop.is_cancelled()) return;
  for (const devices::Audience& audience : Audiences()) {
    if (trees_.Find(held_.back()->number, audience) != nullptr) continue;
    const uint64_t before = trees_.NewestBefore(held_.back()->number, audience);
    if (before != 0 && SucceedFrom(before, audience, now)) continue;
    if (before != 0) owed_cut_.insert(audience);
    Build(audience);
  }
}

// False: the tree has to be built anew.
bool ShownTrees::SucceedFrom(uint64_t before, const devices::Audience& audience, absl::Time now) {
  const auto since = since_.find(before);
  const bool has_static = statics_.contains({before, audience.platform});
  if (since == since_.end() || since->second.is_all || !has_static) return false;
  const absl::Status succeeded = Succeed(*HeldOf(before), audience, now);
  if (succeeded.ok()) return true;
  LogWarning("devices: the tree of platform {} waits: {}", audience.platform, MessageOf(succeeded));
  if (!absl::IsAborted(succeeded)) return false;
  retry_at_ = std::min(retry_at_, now + kRetryInterval);
  return true;
}

absl::Status ShownTrees::Succeed(const ShownWorld& before, const devices::Audience& audience,
                                 absl::Time now) {
  const ShownWorld& after = *held_.back();
  const devices::DeviceTree* const older = trees_.Find(before.number, audience);
  const devices::DeviceViewPtr view = older->newest();
  ASSIGN_OR_RETURN(Step step, StepOf(before, audience.platform));
  std::vector<devices::NamedBlob> blobs;
  ASSIGN_OR_RETURN(const StaticTreePtr shows, StaticAfter(before, audience.platform, step, blobs));
  const devices::DeviceWorld world = DeviceWorldOf(deps_.shared.project(), after, audience);
  const Digest digest = devices::DigestOfWorld(world);
  untold_[digest] = devices::ChangeOf(step.changes, view.get());
  if (trees_.Reuse(after.number, world)) {
    has_unknown_nodes_ = true;
    const devices::DeviceTree* const again = trees_.Find(after.number, audience);
    unsaved_.push_back({.world = after.number, .view = again->newest(), .blobs = {}});
  } else {
    const std::vector<std::string>& changed = since_.at(before.number).packages;
    trees_.Insert(after.number,
                  std::make_unique<devices::DeviceTree>(world, shows->root, *view, KeysOf(changed)),
                  std::move(blobs));
  }
  // Results that came while there was no tree of this world.
  for (const std::string& package : since_.at(before.number).packages)
    AddKnown(audience.platform, package);
  Grow(now, /*is_awaited=*/true);
  return absl::OkStatus();
}

absl::StatusOr<ShownTrees::Step> ShownTrees::StepOf(const ShownWorld& before,
                                                    const std::string& platform) const {
  Step step;
  const ShownWorld& after = *held_.back();
  for (const std::string& package : since_.at(before.number).packages) {
    devices::PackageChange change;
    auto shown_before = ShowPackage(before, *before.Find(platform), package, &deps_.stop);
    // Nobody can read the older file any more: the tree is built anew.
    if (!shown_before.ok())
      return FailedPreconditionError("{}: {}", package, MessageOf(shown_before.status()));
    change.before = *std::move(shown_before);
    ASSIGN_OR_RETURN(change.after, ShowPackage(after, *after.Find(platform), package, &deps_.stop));
    if (change.before) devices::AppendStaticEntries(*change.before, step.removed);
    if (change.after) devices::AppendStaticEntries(*change.after, step.added);
    if (change.after) step.after.push_back(*change.after);
    if (change.before || change.after) step.changes.push_back(std::move(change));
  }
  return step;
}

absl::StatusOr<StaticTreePtr> ShownTrees::StaticAfter(const ShownWorld& before,
                                                      const std::string& platform, Step& step,
                                                      std::vector<devices::NamedBlob>& blobs) {
  const StaticKey key{held_.back()->number, platform};
  if (const auto known = statics_.find(key); known != statics_.end()) return known->second;
  RETURN_IF_ERROR(PutSmallCopies(*held_.back(), step.after, deps_.store, &deps_.stop));
  ASSIGN_OR_RETURN(
      devices::StaticTree edited,
      devices::EditStaticTree(
          *statics_.at({before.number, platform}), std::move(step.removed), std::move(step.added),
          [this](const Digest& digest) { return deps_.store.Get(digest); }, FoldOfNames(), blobs));
  // The folders are stored at once: another audience's tree may name them first.
  RETURN_IF_ERROR(PutBlobs(deps_.store, blobs));
  blobs.clear();
  return statics_[key] = std::make_shared<const devices::StaticTree>(std::move(edited));
}

// ------------------------------------------------------------------ builds

void ShownTrees::Build(const devices::Audience& audience) {
  if (is_building_) return;
  is_building_ = true;
  progress_.done = progress_.total = 0;
  const ShownWorldPtr shown = held_.back();
  auto build = std::make_shared<TreeBuild>();
  build->shown = shown;
  build->audience = audience;
  build->project_id = deps_.shared.project();
  const auto known = statics_.find({shown->number, audience.platform});
  if (known != statics_.end()) build->static_tree = known->second;
  build->finds_standing = !has_standing_.contains(audience.platform);
  build->cooked = deps_.cooked.TableOf(audience.platform)->All();
  const auto leased =
      leased_.find(devices::DigestOfWorld(DeviceWorldOf(build->project_id, *shown, audience)));
  if (leased != leased_.end()) build->leased.assign(leased->second.begin(), leased->second.end());
  build->sources = SourcesOf(*shown);
  build->now = deps_.now();
  build->is_present = [this, shown] {
    const absl::StatusOr<WorldPtr> now = deps_.present.Get();
    return now.ok() && *now == shown->world;
  };
  deps_.builds.Post([this, build] {
    // A hash table does not decide in which order blobs are stored.
    std::ranges::sort(build->cooked, {}, &CookedPackages::value_type::first);
    auto built =
        std::make_shared<absl::StatusOr<BuiltTree>>(BuildTree(*build, {.store = deps_.store,
                                                                       .journal = deps_.journal,
                                                                       .stop = deps_.stop,
                                                                       .progress = progress_}));
    deps_.post([this, build, built] { TakeBuilt(*build, std::move(*built)); });
  });
}

void ShownTrees::TakeBuilt(const TreeBuild& build, absl::StatusOr<BuiltTree> built) {
  is_building_ = false;
  const absl::Time now = deps_.now();
  if (!built.ok()) {
    if (!deps_.stop.is_cancelled())
      LogWarning("devices: the tree of platform {} is built again: {}", build.audience.platform,
                 MessageOf(built.status()));
    late_.clear();
    retry_at_ = std::min(retry_at_, now + kRetryInterval);
    return;
  }
  if (built->standing) TakeStanding(*build.shown, build.audience.platform, *built->standing);
  const std::vector<std::pair<std::string, std::string>> late = std::exchange(late_, {});
  if (HeldOf(build.shown->number) != nullptr) InsertBuilt(build, *std::move(built), now);
  CatchUp(now);
  for (const auto& [platform, package] : late) AddKnown(platform, package);
}

// Results of packages that changed since the build began do not stand any more.
void ShownTrees::TakeStanding(const ShownWorld& shown, const std::string& platform,
                              const CookedPackages& standing) {
  const bool is_present = shown.number == held_.back()->number;
  const auto since = since_.find(shown.number);
  if (!is_present && (since == since_.end() || since->second.is_all)) return;
  has_standing_.insert(platform);
  const std::shared_ptr<CookedTable> table = deps_.cooked.TableOf(platform);
  for (const auto& [package, files] : standing) {
    const bool has_changed =
        !is_present && std::ranges::binary_search(since->second.packages, package);
    if (!has_changed && table->Find(package) == nullptr) table->Put(package, files);
  }
}

void ShownTrees::InsertBuilt(const TreeBuild& build, BuiltTree built, absl::Time now) {
  statics_.try_emplace({build.shown->number, build.audience.platform}, built.static_tree);
  if (trees_.Find(build.shown->number, build.audience) != nullptr) return;
  const devices::DeviceWorld world = built.tree->world();
  const bool is_reused = trees_.Reuse(build.shown->number, world);
  has_unknown_nodes_ |= is_reused || built.has_unknown_nodes;
  if (is_reused) return TellReused(build.shown->number, build.audience);
  const devices::DeviceViewPtr view = built.tree->newest();
  if (owed_cut_.contains(build.audience)) untold_[view->world_digest].is_cut = true;
  trees_.Insert(build.shown->number, std::move(built.tree), {});
  leased_.erase(view->world_digest);
  Tell(build.shown->number, view, now);
}

// The world is as an older one was: its tree is told again, by the next growth.
void ShownTrees::TellReused(uint64_t number, const devices::Audience& audience) {
  const devices::DeviceViewPtr view = trees_.Find(number, audience)->newest();
  if (view == nullptr) return;
  if (owed_cut_.contains(audience)) untold_[view->world_digest].is_cut = true;
  unsaved_.push_back({.world = number, .view = view, .blobs = {}});
}

// ------------------------------------------------------------------ growth

bool ShownTrees::Add(const ShownWorldPtr& shown, const std::string& platform,
                     const std::string& package, const PackageFilesPtr& files,
                     ResultOrigin origin) {
  if (held_.empty() || shown->number != held_.back()->number) return false;
  deps_.cooked.TableOf(platform)->Put(package, files);
  if (is_building_) late_.emplace_back(platform, package);
  if (!trees_.HasAny(shown->number, platform)) return true;
  if (origin == ResultOrigin::kCook) {
    backlog_.Add({.platform = platform, .package = package}, deps_.now());
  } else {
    AddToTrees(*shown, platform, package, *files);
  }
  return true;
}

bool ShownTrees::IsListed(const ShownWorld& shown, const std::string& platform,
                          const std::string& package) const {
  const std::string generator(GeneratorName(package));
  if (generator.empty()) return true;
  const PackageFilesPtr from = deps_.cooked.TableOf(platform)->Find(generator);
  return from != nullptr && from->Generates(StagePath(*shown.world->project, package));
}

void ShownTrees::AddKnown(const std::string& platform, const std::string& package) {
  const PackageFilesPtr files = deps_.cooked.TableOf(platform)->Find(package);
  if (files != nullptr && !held_.empty()) AddToTrees(*held_.back(), platform, package, *files);
}

void ShownTrees::AddToTrees(const ShownWorld& shown, const std::string& platform,
                            const std::string& package, const PackageFiles& files) {
  const ShownPlatform* const shows = shown.Find(platform);
  if (shows == nullptr || SmallCopyOf(shown, *shows, package)) return;
  for (const std::string& fault :
       trees_.Add(shown.number, platform, CookedOf(shown, package, files)))
    LogWarning("devices: {}", fault);
}

void ShownTrees::Grow(absl::Time now, bool is_awaited) {
  // Nothing more is added to trees whose last growth is not stored.
  if (unsaved_.empty()) {
    for (const NodeBacklog::Entry& entry : backlog_.Take(now))
      AddKnown(entry.platform, entry.package);
  }
  for (DeviceTrees::Growth& growth : trees_.Grow(now, is_awaited))
    unsaved_.push_back(std::move(growth));
  while (!unsaved_.empty()) {
    const DeviceTrees::Growth& growth = unsaved_.front();
    if (const absl::Status put = PutBlobs(deps_.store, growth.blobs); !put.ok()) {
      LogWarning("devices: a new root is not stored: {}", MessageOf(put));
      retry_at_ = std::min(retry_at_, now + kRetryInterval);
      return;
    }
    Tell(growth.world, growth.view, now);
    unsaved_.pop_front();
  }
}

// The first view of a tree tells how its world differs.
void ShownTrees::Tell(uint64_t world, const devices::DeviceViewPtr& view, absl::Time now) {
  const ShownWorldPtr shown = HeldOf(world);
  if (shown == nullptr) return;
  std::optional<devices::WorldChange> changed;
  if (const auto untold = untold_.find(view->world_digest); untold != untold_.end()) {
    if (world == held_.back()->number) changed = std::move(untold->second);
    untold_.erase(untold);
  }
  const devices::Audience audience{.platform = view->world->platform,
                                   .cultures = view->world->cultures};
  if (changed && owed_cut_.erase(audience) > 0) changed = devices::WorldChange{.is_cut = true};
  deps_.shared.SetNewest(shown, view, std::move(changed), now);
}

absl::Time ShownTrees::due_at() const {
  if (!unsaved_.empty()) return retry_at_;
  return std::min({trees_.grows_at(), backlog_.due_at(), retry_at_});
}

bool ShownTrees::TakeRetry(absl::Time now) {
  if (now < retry_at_) return false;
  retry_at_ = absl::InfiniteFuture();
  return true;
}

}  // namespace galley::director
