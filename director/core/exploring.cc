#include "director/core/exploring.h"

#include <algorithm>
#include <utility>

#include "director/core/core.h"

namespace galley::director {
namespace {

// How many packages generated one another down to this one, which is counted too.
size_t GeneratorsOf(std::string_view name) {
  size_t count = 1;
  for (name = GeneratorName(name); !name.empty(); name = GeneratorName(name)) ++count;
  return count;
}

}  // namespace

void Exploring::SetExplored(PackageId id, PlatformIndex platform, const ResultViewPtr& view,
                            bool is_result) {
  PackageData& package = packages_[id];
  RegisterGenerated(id, *view, is_result);
  Slot& slot = package.slots[platform];
  const bool is_followed =
      package.explored_epoch == core_.epoch && (graph().edges.followed(id) & MaskOf(platform)) != 0;
  const bool is_same =
      is_followed && slot.explored != nullptr && slot.explored->references == view->references;
  slot.explored = view;
  if (!is_same) graph().Push({AgendaItem::Kind::kExplore, id, platform});
}

size_t Exploring::Explore(PackageId id, PlatformIndex platform) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook() || platform >= package.slots.size() ||
      package.slots[platform].explored == nullptr)
    return 1;
  if (package.explored_epoch == core_.epoch) return ExploreOne(id, platform);
  // Roots that are being built are of files as they were before.
  if (graph().changes.has_late() && (package.cooks & core_.cooks.settling()) != 0) {
    late_.push_back(id);
    return 1;
  }
  graph().edges.Unfollow(id);
  package.problems.clear();
  package.explored_epoch = core_.epoch;
  // All platforms at once: a cook that builds its roots may want others, and must not find the
  // package without what it refers to there.
  size_t units = 0;
  for (PlatformIndex p = 0; p < packages_[id].slots.size(); ++p) {
    if (packages_[id].slots[p].explored != nullptr) units += ExploreOne(id, p);
  }
  return units;
}

void Exploring::ExploreAnew(PackageId id) {
  const PackageData& package = packages_[id];
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (package.slots[p].explored != nullptr)
      return graph().Push({AgendaItem::Kind::kExplore, id, p});  // it sees to the other platforms
  }
}

void Exploring::ExploreLate() {
  for (const PackageId id : std::exchange(late_, {})) ExploreAnew(id);
}

size_t Exploring::ExploreOne(PackageId id, PlatformIndex platform) {
  PackageData& package = packages_[id];
  const PlatformMask bit = MaskOf(platform);
  for (Problem& problem : package.problems) problem.platforms &= ~bit;
  package.problems.EraseIf([](const Problem& problem) { return problem.platforms == 0; });
  const std::vector<record::Reference>& references = package.slots[platform].explored->references;
  // Most often another platform refers to the same.
  const PlatformMask others = graph().edges.followed(id) & ~bit;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    // (A platform that is tried again is followed as it was, and has nothing explored yet.)
    if (!(others & MaskOf(p)) || package.slots[p].explored == nullptr ||
        package.slots[p].explored->references != references)
      continue;
    graph().edges.FollowAlike(id, platform, p);
    if ((core_.cooks.ClaimersOn(id, bit) & ~core_.cooks.ClaimersOn(id, MaskOf(p))) != 0)
      graph().Push({AgendaItem::Kind::kSpread, id});
    for (Problem& problem : package.problems)
      problem.platforms |= problem.platforms & MaskOf(p) ? bit : 0;
    return 1 + references.size();
  }
  std::vector<Edges::Target> targets;
  for (const record::Reference& reference : references) Follow(id, reference, bit, targets);
  FollowCultures(id, targets);
  std::vector<PackageId> found;
  graph().edges.Follow(id, platform, targets, found);
  const CookMask cooks = core_.cooks.ClaimersOn(id, bit);
  for (const auto& [to, category] : targets) graph().claims.Bring(to, category, id, cooks);
  PlaceInRanks(id, found, /*are_cooked_inputs=*/false);
  core_.cooks.ForEachOf(cooks & core_.cooks.fail_fast(), [id](Cook& cook) {
    if (!cook.is_ending()) cook.judging.Judge(id);
  });
  return 1 + references.size();
}

// The package's variants for the selected cultures come along.
void Exploring::FollowCultures(PackageId id, std::vector<Edges::Target>& targets) {
  const std::optional<CatalogEntry> entry = core_.catalog->Find(packages_[id].name);
  if (!entry.has_value()) return;
  for (const std::string& variant : entry->localised)
    targets.emplace_back(graph().claims.FindOrAdd(variant), InstigatorCategory::kCulture);
}

void Exploring::Follow(PackageId id, const record::Reference& reference, PlatformMask platforms,
                       std::vector<Edges::Target>& targets) {
  if (reference.kind == record::ReferenceKind::kEditor) return;
  PackageData& package = packages_[id];
  if (reference.kind == record::ReferenceKind::kSoft &&
      (package.cooks & core_.cooks.follow_soft()) == 0)
    return;
  ReferenceTarget target;
  if (reference.path.starts_with("_gen/")) {
    target.name = package.name + "/" + reference.path;
  } else {
    target = core_.catalog->Resolve(package.name, reference.path);
  }
  if (!target.warning.empty())
    package.problems.push_back({reference.kind, platforms, target.warning, /*is_remark=*/true});
  if (target.error.empty() && GeneratorName(target.name).empty()) {
    const std::optional<CatalogEntry> entry = core_.catalog->Find(target.name);
    if (!entry.has_value()) target.error = "no such package";
    if (entry.has_value() && entry->never_cook)
      target.error = "it is never cooked ([cook] never or --never)";
  }
  if (!target.error.empty()) {
    std::string text = "refers to '" + reference.path + "' (" +
                       std::string(record::ReferenceKindName(reference.kind)) + ")";
    if (!target.name.empty() && target.name != reference.path) text += ", that is " + target.name;
    text += ": expected a package: " + target.error;
    package.problems.push_back({reference.kind, platforms, std::move(text)});
    return;
  }
  const bool is_hard = reference.kind == record::ReferenceKind::kHard;
  targets.emplace_back(
      graph().claims.FindOrAdd(target.name),
      is_hard ? InstigatorCategory::kHardDependency : InstigatorCategory::kSoftDependency);
}

// The list of a load may be incomplete; the list of a result is complete.
void Exploring::RegisterGenerated(PackageId id, const ResultView& view, bool is_result) {
  PackageData& package = packages_[id];
  std::vector<PackageId> listed;
  absl::btree_set<PackageId> requeued = {id};  // this one goes on
  for (const record::Generated& generated : view.generated) {
    if (!generated.name.starts_with("_gen/")) continue;
    if (GeneratorsOf(package.name) == options_.generators_max) {
      return FailGenerator(id, "cycle of generators? " + std::to_string(options_.generators_max) +
                                   " generate one another, and the last one " + generated.name +
                                   " again: expected an end");
    }
    const PackageId child_id = graph().claims.FindOrAdd(package.name + "/" + generated.name);
    listed.push_back(child_id);
    PackageData& child = packages_[child_id];
    const bool is_new = child.generated == nullptr;
    const bool is_changed = !is_new && *child.generated != generated;
    if (package.is_listing_final && (is_new || is_changed)) {
      return FailGenerator(
          id, "generates " + child.name +
                  " for one platform otherwise than for another: the list must be the same");
    }
    child.generated = std::make_unique<record::Generated>(generated);
    if (is_changed && child.is_in_cook()) graph().claims.RequeueWithReaders(child_id, requeued);
    graph().claims.Join(child_id, InstigatorCategory::kGeneratedPackage, id, package.cooks);
    BindRanks(id, child_id, InstigatorCategory::kGeneratedPackage);
    if (child.work != nullptr && child.work->waits_for_generator)
      core_.waiting.EvaluateGenerator(child_id);
  }
  std::sort(listed.begin(), listed.end());
  if (!is_result) {
    std::vector<PackageId> all = package.generates.Take();
    all.insert(all.end(), listed.begin(), listed.end());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    package.generates = std::move(all);
    return;
  }
  const std::vector<PackageId> before = package.generates.Take();
  package.generates = std::move(listed);
  if (package.is_listing_final && package.generates.size() != before.size()) {
    return FailGenerator(
        id,
        "generates fewer packages for one platform than for another: the list must be the same");
  }
  package.is_listing_final = true;
  for (const PackageId child_id : before) {
    if (std::binary_search(package.generates.begin(), package.generates.end(), child_id)) continue;
    packages_[child_id].generated.reset();
    if (packages_[child_id].is_in_cook()) graph().claims.RequeueWithReaders(child_id, requeued);
  }
}

// The generator fails on all platforms, whichever of them came first.
void Exploring::FailGenerator(PackageId id, const std::string& error) {
  core_.advancing.FailPlatforms(id, ~PlatformMask{0}, Stage::kSave, error, "");
  core_.advancing.Advance(id);
}

void Exploring::BindRanks(PackageId dependent, PackageId dependency, InstigatorCategory category) {
  if (!graph().edges.Add(dependent, {dependency, category}, /*binds_ranks=*/true).binds_now) return;
  PlaceInRanks(dependent, {dependency}, category == InstigatorCategory::kBuildDependency);
}

void Exploring::PlaceInRanks(PackageId dependent, const std::vector<PackageId>& dependencies,
                             bool are_cooked_inputs) {
  std::vector<PackageId> changed;
  for (const PackageId dependency : dependencies)
    graph().ranks.AddEdge(dependent, dependency, are_cooked_inputs, changed);
  for (const PackageId package : changed) {
    if (packages_[package].work != nullptr) lifecycle().Refresh(package);
  }
}

// One pass over the whole graph, at once: the edges that were put aside since the last pass justify
// its cost. While no queue asks for ranks, it can wait.
void Exploring::RankAnewIfDue() {
  if (!graph().ranks.IsBulkDue() || lifecycle().loads().size() + lifecycle().saves().size() < 2)
    return;
  graph().ranks.BulkRank();
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    if (packages_[PackageId(i)].work != nullptr) lifecycle().Refresh(PackageId(i));
  }
}

}  // namespace galley::director
