#include "director/core/cooks/unneeded_packages.h"

#include <string>

#include "absl/container/btree_set.h"

namespace galley::director {

void UnneededPackages::Forget() {
  if (step_.awake - looked_at_ < kBetween) return;
  looked_at_ = step_.awake;
  const Needed needed = FindNeeded();
  const size_t unneeded = packages_.known() - needed.found.size();
  if (unneeded == 0 || unneeded < packages_.known() / kLeastShare) return;
  graph_.ForgetUnless(needed.is_needed);
}

void UnneededPackages::Add(PackageId id, Needed& needed) const {
  if (!packages_.Has(id) || needed.is_needed[id.index()]) return;
  needed.is_needed[id.index()] = true;
  needed.found.push_back(id);
}

UnneededPackages::Needed UnneededPackages::FindNeeded() const {
  Needed needed{.is_needed = std::vector<bool>(packages_.size(), false), .found = {}};
  const auto add = [&](PackageId id) { Add(id, needed); };
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageData& package = packages_[PackageId(i)];
    if (package.is_in_cook() || package.work != nullptr || package.selected_by != 0 ||
        package.on_agenda != 0)
      add(PackageId(i));
  }
  absl::btree_set<PackageId> with_readers;
  const size_t asked = needed.found.size();
  for (size_t i = 0; i < asked; ++i) {
    const PackageId id = needed.found[i];
    graph_.ForEachWithReaders(id, with_readers, add);
  }
  graph_.ForEachWithoutGenerator(add);
  deps_.attempts.ForEachPackage(add);
  deps_.commits.ForEachPackage(add);
  deps_.held_results.ForEachPackage(add);
  deps_.kept_failures.ForEachPackage([&](const std::string& name) { add(packages_.Find(name)); });
  for (size_t i = 0; i < needed.found.size(); ++i) {
    const PackageId id = needed.found[i];
    AddNeedsOf(id, needed);
  }
  return needed;
}

void UnneededPackages::AddNeedsOf(PackageId id, Needed& needed) const {
  const PackageData& package = packages_[id];
  for (const PackageId input : package.cooked_inputs) Add(input, needed);
  for (const PackageId child : package.generates) Add(child, needed);
  if (package.work != nullptr) {
    for (const Wait& wait : package.work->waits) Add(wait.on, needed);
    for (const PackageId waiter : package.work->waiters) Add(waiter, needed);
  }
  if (const std::string_view generator = GeneratorName(package.name); !generator.empty())
    Add(packages_.Find(generator), needed);
  graph_.edges().ForEachNeed(id, [&](PackageId need) { Add(need, needed); });
}

}  // namespace galley::director
