// Exploring: what a result refers to and generates joins the cook.
#include <algorithm>

#include "director/core/cook_core_impl.h"

namespace galley::director {
namespace {

// How many generated one another down to this one, itself among them.
size_t GeneratorsOf(std::string_view name) {
  size_t count = 1;
  for (name = GeneratorName(name); !name.empty(); name = GeneratorName(name)) ++count;
  return count;
}

}  // namespace

void CookCore::Impl::SetExplored(PackageId id, PlatformIndex platform, const ResultViewPtr& view,
                                 bool is_result) {
  PackageData& package = packages[id];
  RegisterGenerated(id, *view, is_result);
  Slot& slot = package.slots[platform];
  const bool is_followed =
      package.explored_epoch == epoch && (edges.followed(id) & MaskOf(platform)) != 0;
  const bool is_same =
      is_followed && slot.explored != nullptr && slot.explored->references == view->references;
  slot.explored = view;
  if (!is_same) agenda.Push(package.urgency, {AgendaItem::Kind::kExplore, id, platform});
}

size_t CookCore::Impl::Explore(PackageId id, PlatformIndex platform) {
  PackageData& package = packages[id];
  if (!package.is_in_cook || platform >= package.slots.size() ||
      package.slots[platform].explored == nullptr)
    return 1;
  if (package.explored_epoch != epoch) {
    edges.Unfollow(id);
    package.problems.clear();
    package.explored_epoch = epoch;
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if (p != platform && package.slots[p].explored != nullptr)
        agenda.Push(package.urgency, {AgendaItem::Kind::kExplore, id, p});
    }
  }
  const PlatformMask bit = MaskOf(platform);
  for (Problem& problem : package.problems) problem.platforms &= ~bit;
  package.problems.EraseIf([](const Problem& problem) { return problem.platforms == 0; });
  const std::vector<record::Reference>& references = package.slots[platform].explored->references;
  // Most often another platform refers to the same.
  const PlatformMask others = edges.followed(id) & ~bit;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (!(others & MaskOf(p)) || package.slots[p].explored->references != references) continue;
    edges.FollowAlike(id, platform, p);
    for (Problem& problem : package.problems)
      problem.platforms |= problem.platforms & MaskOf(p) ? bit : 0;
    return 1 + references.size();
  }
  std::vector<Edges::Target> targets;
  for (const record::Reference& reference : references) Follow(id, reference, bit, targets);
  FollowCultures(id, targets);
  std::vector<PackageId> found;
  edges.Follow(id, platform, targets, found);
  for (const auto& [to, category] : targets) Bring(to, category, id);
  PlaceInRanks(id, found, /*are_cooked_inputs=*/false);
  if (FailsFast() && ending == Ending::kNone) Judge(id);
  return 1 + references.size();
}

// Its variants for the selected cultures come along.
void CookCore::Impl::FollowCultures(PackageId id, std::vector<Edges::Target>& targets) {
  const std::optional<CatalogEntry> entry = catalog->Find(packages[id].name);
  if (!entry.has_value()) return;
  for (const std::string& variant : entry->localised)
    targets.emplace_back(FindOrAdd(variant), InstigatorCategory::kCulture);
}

void CookCore::Impl::Follow(PackageId id, const record::Reference& reference,
                            PlatformMask platforms, std::vector<Edges::Target>& targets) {
  if (reference.kind == record::ReferenceKind::kEditor) return;
  if (reference.kind == record::ReferenceKind::kSoft && !request->follow_soft) return;
  PackageData& package = packages[id];
  ReferenceTarget target;
  if (reference.path.starts_with("_gen/")) {
    target.name = package.name + "/" + reference.path;
  } else {
    target = catalog->Resolve(package.name, reference.path);
  }
  if (!target.warning.empty()) WarnOnce(id, target.warning);
  if (target.error.empty() && GeneratorName(target.name).empty()) {
    const std::optional<CatalogEntry> entry = catalog->Find(target.name);
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
  targets.emplace_back(FindOrAdd(target.name), is_hard ? InstigatorCategory::kHardDependency
                                                       : InstigatorCategory::kSoftDependency);
}

// What a load lists is a beginning; what a result lists is all.
void CookCore::Impl::RegisterGenerated(PackageId id, const ResultView& view, bool is_result) {
  PackageData& package = packages[id];
  std::vector<PackageId> listed;
  absl::btree_set<PackageId> requeued = {id};  // this one goes on
  for (const record::Generated& generated : view.generated) {
    if (!generated.name.starts_with("_gen/")) continue;
    if (GeneratorsOf(package.name) == options.generators_max) {
      return FailGenerator(id, "cycle of generators? " + std::to_string(options.generators_max) +
                                   " generate one another, and the last one " + generated.name +
                                   " again: expected an end");
    }
    const PackageId child_id = FindOrAdd(package.name + "/" + generated.name);
    listed.push_back(child_id);
    PackageData& child = packages[child_id];
    const bool is_new = child.generated == nullptr;
    const bool is_changed = !is_new && *child.generated != generated;
    if (package.is_listing_final && (is_new || is_changed)) {
      return FailGenerator(
          id, "generates " + child.name +
                  " for one platform otherwise than for another: the list must be the same");
    }
    child.generated = std::make_unique<record::Generated>(generated);
    if (is_changed && child.is_in_cook) RequeueWithReaders(child_id, requeued);
    Join(child_id, InstigatorCategory::kGeneratedPackage, id);
    BindRanks(id, child_id, InstigatorCategory::kGeneratedPackage);
    if (child.work != nullptr && child.work->waits_for_generator) EvaluateGenerator(child_id);
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
    packages[child_id].generated.reset();
    if (packages[child_id].is_in_cook) RequeueWithReaders(child_id, requeued);
  }
}

// On all platforms, whichever of them came first.
void CookCore::Impl::FailGenerator(PackageId id, const std::string& error) {
  FailPlatforms(id, ~PlatformMask{0}, Stage::kSave, error, "");
  Advance(id);
}

void CookCore::Impl::BindRanks(PackageId dependent, PackageId dependency,
                               InstigatorCategory category) {
  if (!edges.Add(dependent, {dependency, category}, /*binds_ranks=*/true).binds_now) return;
  PlaceInRanks(dependent, {dependency}, category == InstigatorCategory::kBuildDependency);
}

void CookCore::Impl::PlaceInRanks(PackageId dependent, const std::vector<PackageId>& dependencies,
                                  bool are_cooked_inputs) {
  std::vector<PackageId> changed;
  for (const PackageId dependency : dependencies)
    ranks.AddEdge(dependent, dependency, are_cooked_inputs, changed);
  for (const PackageId package : changed) {
    if (packages[package].work != nullptr) lifecycle.Refresh(package);
  }
}

// One pass over the whole graph, at once: what was put aside since the last one pays for it. While
// no queue asks for ranks, it can wait.
void CookCore::Impl::RankAnewIfDue() {
  if (!ranks.IsBulkDue() || lifecycle.loads().size() + lifecycle.saves().size() < 2) return;
  ranks.BulkRank();
  for (uint32_t i = 0; i < packages.size(); ++i) {
    if (packages[PackageId(i)].work != nullptr) lifecycle.Refresh(PackageId(i));
  }
}

}  // namespace galley::director
