#include "director/core/cooks/graph_exploration.h"

#include <algorithm>
#include <utility>

namespace galley::director {
size_t GraphExploration::Explore(PackageId id, PlatformIndex platform) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook() || platform >= package.slots.size() ||
      package.slots[platform].explored == nullptr)
    return 1;
  if (package.explored_epoch == step_.epoch) return ExploreOne(id, platform);
  // Roots that are being built are made of the files before the late changes.
  if (graph_.pending_changes().has_late_files() &&
      (package.cooks & claimants_.masks().settling()) != 0) {
    late_.push_back(id);
    return 1;
  }
  graph_.edges().Unfollow(id);
  package.problems.clear();
  package.explored_epoch = step_.epoch;
  // The package is explored on every platform at once: a cook that builds its roots may want other
  // platforms, and must not find the package without its references there.
  size_t units = 0;
  for (PlatformIndex p = 0; p < packages_[id].slots.size(); ++p) {
    if (packages_[id].slots[p].explored != nullptr) units += ExploreOne(id, p);
  }
  return units;
}

void GraphExploration::ExploreLate() {
  for (const PackageId id : std::exchange(late_, {})) graph_.PushExploreAnew(id);
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

// The package's variants for the selected cultures come along.
void GraphExploration::FollowCultures(PackageId id, std::vector<Edges::Target>& targets) {
  const std::optional<CatalogEntry> entry = step_.catalog->Find(packages_[id].name);
  if (!entry.has_value()) return;
  for (const std::string& variant : entry->localised)
    targets.emplace_back(graph_.FindOrAdd(variant), InstigatorCategory::kCulture);
}

void GraphExploration::Follow(PackageId id, const record::Reference& reference,
                              PlatformMask platforms, std::vector<Edges::Target>& targets) {
  if (reference.kind == record::ReferenceKind::kEditor) return;
  PackageData& package = packages_[id];
  if (reference.kind == record::ReferenceKind::kSoft &&
      (package.cooks & claimants_.masks().follow_soft) == 0)
    return;
  ReferenceTarget target;
  if (reference.path.starts_with("_gen/")) {
    target.name = package.name + "/" + reference.path;
  } else {
    target = step_.catalog->Resolve(package.name, reference.path);
  }
  if (!target.warning.empty())
    package.problems.push_back({reference.kind, platforms, target.warning, /*is_remark=*/true});
  if (target.error.empty() && GeneratorName(target.name).empty()) {
    const std::optional<CatalogEntry> entry = step_.catalog->Find(target.name);
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
  targets.emplace_back(graph_.FindOrAdd(target.name), is_hard
                                                          ? InstigatorCategory::kHardDependency
                                                          : InstigatorCategory::kSoftDependency);
}

}  // namespace galley::director
