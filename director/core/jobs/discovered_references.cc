#include "director/core/jobs/discovered_references.h"

#include <algorithm>
#include <utility>

namespace galley::director {

namespace {

// How many packages generated one another down to this package, which is counted too.
size_t GeneratorsOf(std::string_view name) {
  size_t count = 1;
  for (name = GeneratorName(name); !name.empty(); name = GeneratorName(name)) ++count;
  return count;
}

}  // namespace

void DiscoveredReferences::SetExplored(PackageId id, PlatformIndex platform,
                                       const ResultViewPtr& view, bool is_result) {
  PackageData& package = packages_[id];
  RegisterGenerated(id, *view, is_result);
  Slot& slot = package.slots[platform];
  const bool is_followed = package.explored_epoch == step_.epoch &&
                           (graph_.edges().followed(id) & MaskOf(platform)) != 0;
  const bool is_same =
      is_followed && slot.explored != nullptr && slot.explored->references == view->references;
  slot.explored = view;
  if (!is_same) graph_.Push({AgendaItem::Kind::kExplore, id, platform});
}

// The list of a load may be incomplete; the list of a result is complete.
void DiscoveredReferences::RegisterGenerated(PackageId id, const ResultView& view, bool is_result) {
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
    const PackageId child_id = graph_.FindOrAdd(package.name + "/" + generated.name);
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
    if (is_changed && child.is_in_cook()) claims_.RequeueWithReaders(child_id, requeued);
    claims_.Join(child_id, InstigatorCategory::kGeneratedPackage, id, package.cooks);
    graph_.BindRanks(id, child_id, InstigatorCategory::kGeneratedPackage);
    if (child.work != nullptr && child.work->waits_for_generator)
      wait_evaluation_.EvaluateGenerator(child_id);
  }
  std::ranges::sort(listed);
  if (!is_result) {
    std::vector<PackageId> all = package.generates.Take();
    all.insert(all.end(), listed.begin(), listed.end());
    std::ranges::sort(all);
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
    if (packages_[child_id].is_in_cook()) claims_.RequeueWithReaders(child_id, requeued);
  }
}

// The generator fails on every platform, whichever platform came first.
void DiscoveredReferences::FailGenerator(PackageId id, const std::string& error) {
  package_progress_.FailPlatforms(id, ~PlatformMask{0}, Stage::kSave, error, "");
  package_progress_.Advance(id);
}

}  // namespace galley::director
