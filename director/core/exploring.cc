// Exploring: what a result refers to and generates joins the cook.
#include <algorithm>

#include "director/core/cook_core_impl.h"

namespace galley::director {

void CookCore::Impl::SetExplored(PackageId id, PlatformIndex platform, const ResultViewPtr& view,
                                 bool is_result) {
  PackageData& package = packages[id];
  RegisterGenerated(id, *view, is_result);
  Slot& slot = package.slots[platform];
  const bool is_followed =
      package.explored_epoch == epoch && (package.followed & MaskOf(platform)) != 0;
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
    package.edges.clear();
    package.problems.clear();
    package.followed = 0;
    package.explored_epoch = epoch;
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if (p != platform && package.slots[p].explored != nullptr)
        agenda.Push(package.urgency, {AgendaItem::Kind::kExplore, id, p});
    }
  }
  const PlatformMask bit = MaskOf(platform);
  for (Edge& edge : package.edges) edge.platforms &= ~bit;
  for (Problem& problem : package.problems) problem.platforms &= ~bit;
  std::erase_if(package.problems, [](const Problem& problem) { return problem.platforms == 0; });
  package.followed |= bit;
  const std::vector<record::Reference>& references = package.slots[platform].explored->references;
  // Most often another platform refers to the same.
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (p == platform || !(package.followed & MaskOf(p)) ||
        package.slots[p].explored->references != references)
      continue;
    for (Edge& edge : package.edges) edge.platforms |= edge.platforms & MaskOf(p) ? bit : 0;
    for (Problem& problem : package.problems)
      problem.platforms |= problem.platforms & MaskOf(p) ? bit : 0;
    return 1 + package.edges.size();
  }
  std::vector<Edge> edges = std::move(package.edges);
  for (const record::Reference& reference : references) Follow(id, reference, bit, edges);
  FollowCultures(id, bit, edges);
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.target, a.kind) < std::tie(b.target, b.kind);
  });
  for (const Edge& edge : edges) {
    if (edge.platforms == 0) continue;
    std::vector<Edge>& merged = package.edges;
    if (!merged.empty() && merged.back().target == edge.target && merged.back().kind == edge.kind) {
      merged.back().platforms |= edge.platforms;
    } else {
      merged.push_back(edge);
    }
  }
  if (request->fail_fast && ending == Ending::kNone) Judge(id);
  return 1 + references.size();
}

// Its variants for the selected cultures come along.
void CookCore::Impl::FollowCultures(PackageId id, PlatformMask platforms,
                                    std::vector<Edge>& edges) {
  const std::optional<CatalogEntry> entry = catalog->Find(packages[id].name);
  if (!entry.has_value()) return;
  for (const std::string& variant : entry->localised) {
    const PackageId to = FindOrAdd(variant);
    edges.push_back({to, record::ReferenceKind::kSoft, platforms});
    Join(to, InstigatorCategory::kCulture, id);
    AddRankEdge(id, to, false);
  }
}

void CookCore::Impl::Follow(PackageId id, const record::Reference& reference,
                            PlatformMask platforms, std::vector<Edge>& edges) {
  if (reference.kind == record::ReferenceKind::kEditor) return;
  if (reference.kind == record::ReferenceKind::kSoft && !request->follow_soft) return;
  PackageData& package = packages[id];
  ReferenceTarget target;
  if (reference.path.starts_with("_gen/")) {
    target.name = package.name + "/" + reference.path;
  } else {
    target = catalog->Resolve(package.name, reference.path);
  }
  if (!target.warning.empty()) Note(PackageWarned{id, std::nullopt, target.warning});
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
  const PackageId to = FindOrAdd(target.name);
  const bool is_hard = reference.kind == record::ReferenceKind::kHard;
  edges.push_back({to, reference.kind, platforms});
  Join(to, is_hard ? InstigatorCategory::kHardDependency : InstigatorCategory::kSoftDependency, id);
  AddRankEdge(id, to, false);
}

// What a load lists is a beginning; what a result lists is all.
void CookCore::Impl::RegisterGenerated(PackageId id, const ResultView& view, bool is_result) {
  PackageData& package = packages[id];
  std::vector<PackageId> listed;
  for (const record::Generated& generated : view.generated) {
    if (!generated.name.starts_with("_gen/")) continue;
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
    if (is_changed && child.is_in_cook) Requeue(child_id);
    Join(child_id, InstigatorCategory::kGeneratedPackage, id);
    AddRankEdge(id, child_id, false);
    if (child.work != nullptr && child.work->waits_for_generator) EvaluateGenerator(child_id);
  }
  std::sort(listed.begin(), listed.end());
  if (!is_result) {
    package.generates.insert(package.generates.end(), listed.begin(), listed.end());
    std::sort(package.generates.begin(), package.generates.end());
    package.generates.erase(std::unique(package.generates.begin(), package.generates.end()),
                            package.generates.end());
    return;
  }
  const std::vector<PackageId> before = std::move(package.generates);
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
    if (packages[child_id].is_in_cook) Requeue(child_id);
  }
}

// On all platforms, whichever of them came first.
void CookCore::Impl::FailGenerator(PackageId id, const std::string& error) {
  FailPlatforms(id, ~PlatformMask{0}, Stage::kSave, error, "");
  Advance(id);
}

void CookCore::Impl::AddRankEdge(PackageId dependent, PackageId dependency, bool is_cooked_input) {
  std::vector<PackageId> changed;
  ranks.AddEdge(dependent, dependency, is_cooked_input, changed);
  for (const PackageId package : changed) {
    if (packages[package].work != nullptr) lifecycle.Refresh(package);
  }
}

}  // namespace galley::director
