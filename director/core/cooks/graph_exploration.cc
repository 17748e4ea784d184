#include "director/core/cooks/graph_exploration.h"

#include <algorithm>
#include <utility>

#include "director/core/cooks/resolved_reference.h"

namespace galley::director {
size_t GraphExploration::Explore(PackageId id, PlatformIndex platform) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook() || platform >= package.slots.size() ||
      package.slots[platform].explored == nullptr)
    return 1;
  // Asks follow no references. A cook that comes later explores the package again.
  if ((package.cooks & claimants_.masks().running & kCooksBits) == 0) return 1;
  if (package.explored_epoch == step_.epoch) return ExploreOne(id, platform);
  graph_.edges().Unfollow(id);
  package.problems.clear();
  package.explored_epoch = step_.epoch;
  // The package is explored on every platform at once: a cook that is judged may want other
  // platforms, and must not find the package without its references there.
  size_t units = 0;
  for (PlatformIndex p = 0; p < packages_[id].slots.size(); ++p) {
    if (packages_[id].slots[p].explored != nullptr) units += ExploreOne(id, p);
  }
  return units;
}

size_t GraphExploration::ExploreOne(PackageId id, PlatformIndex platform) {
  PackageData& package = packages_[id];
  const PlatformMask bit = MaskOf(platform);
  for (Problem& problem : package.problems) problem.platforms &= ~bit;
  package.problems.EraseIf([](const Problem& problem) { return problem.platforms == 0; });
  const std::vector<record::Reference>& references = package.slots[platform].explored->references;
  // Most often another platform has the same references.
  const PlatformMask others = graph_.edges().followed(id) & ~bit;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    // A platform that is tried again is followed as before, and has nothing explored yet.
    if (!(others & MaskOf(p)) || package.slots[p].explored == nullptr ||
        package.slots[p].explored->references != references)
      continue;
    graph_.edges().FollowAlike(id, platform, p);
    if ((claimants_.ClaimersOn(id, bit) & ~claimants_.ClaimersOn(id, MaskOf(p))) != 0)
      graph_.Push({AgendaItem::Kind::kSpread, id});
    for (Problem& problem : package.problems)
      problem.platforms |= problem.platforms & MaskOf(p) ? bit : 0;
    return 1 + references.size();
  }
  std::vector<Edges::Target> targets;
  for (const record::Reference& reference : references) Follow(id, reference, bit, targets);
  FollowCultures(id, targets);
  std::vector<PackageId> found;
  graph_.edges().Follow(id, platform, targets, found);
  const CookMask cooks = claimants_.ClaimersOn(id, bit);
  for (const auto& [to, category] : targets) claims_.Bring(to, category, id, cooks);
  graph_.PlaceInRanks(id, found, /*are_cooked_inputs=*/false);
  claimants_.ForEachOf(cooks & claimants_.masks().fail_fast, [&](Claimant& cook) {
    if (!cook.is_ending()) cook_validation_.Judge(cook, id);
  });
  return 1 + references.size();
}

// The package's variants come along, for each cook those of its cultures.
void GraphExploration::FollowCultures(PackageId id, std::vector<Edges::Target>& targets) {
  std::vector<Edges::Variant> variants;
  for (const auto& [cultures, cooks] : CulturesOf(packages_[id].cooks)) {
    for (const std::string& name : step_.catalog->VariantsOf(packages_[id].name, *cultures)) {
      const PackageId target = graph_.FindOrAdd(name);
      targets.emplace_back(target, InstigatorCategory::kCulture);
      const auto known = std::ranges::find(variants, target, &Edges::Variant::target);
      if (known == variants.end()) {
        variants.push_back({target, cooks});
      } else {
        known->cooks |= cooks;
      }
    }
  }
  graph_.edges().SetVariants(id, std::move(variants));
}

// The running cooks among `cooks`, by their cultures.
std::vector<std::pair<const Cultures*, CookMask>> GraphExploration::CulturesOf(
    CookMask cooks) const {
  std::vector<std::pair<const Cultures*, CookMask>> groups;
  claimants_.ForEachOf(cooks, [&](const Claimant& cook) {
    for (auto& [cultures, of_group] : groups) {
      if (*cultures != cook.cultures()) continue;
      of_group |= cook.bit();
      return;
    }
    groups.emplace_back(&cook.cultures(), cook.bit());
  });
  return groups;
}

void GraphExploration::Follow(PackageId id, const record::Reference& reference,
                              PlatformMask platforms, std::vector<Edges::Target>& targets) {
  if (reference.kind == record::ReferenceKind::kEditor) return;
  PackageData& package = packages_[id];
  if (reference.kind == record::ReferenceKind::kSoft &&
      (package.cooks & claimants_.masks().follow_soft) == 0)
    return;
  const ReferenceTarget target = ResolveReference(*step_.catalog, package.name, reference);
  if (!target.warning.empty())
    package.problems.push_back({reference.kind, platforms, target.warning, /*is_remark=*/true});
  if (!target.error.empty()) {
    package.problems.push_back({reference.kind, platforms, NowhereText(reference, target)});
    return;
  }
  const bool is_hard = reference.kind == record::ReferenceKind::kHard;
  targets.emplace_back(graph_.FindOrAdd(target.name), is_hard
                                                          ? InstigatorCategory::kHardDependency
                                                          : InstigatorCategory::kSoftDependency);
}

}  // namespace galley::director
