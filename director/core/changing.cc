// Files change under a cook.
#include <algorithm>

#include "director/core/cook_core_impl.h"

namespace galley::director {

void CookCore::Impl::OnFilesChanged(const FilesChanged& event) {
  if (event.catalog != nullptr) catalog = event.catalog;
  ++epoch;
  // Once roots are being built the cook belongs to the snapshot before.
  if (!request.has_value() || ending != Ending::kNone || is_settling) return;
  absl::btree_set<PackageId> waiting;
  uint32_t changes = 0;
  if (!event.path.empty()) {
    changes = ++stale_counts[event.path];
    const auto waiters = stale_waiters.extract(event.path);
    if (!waiters.empty()) waiting = waiters.mapped();
  }
  absl::btree_set<PackageId> done;
  for (const std::string& name : event.packages) {
    const PackageId package = packages.Find(name);
    if (package.valid()) RequeueWithReaders(package, done);
  }
  for (const PackageId id : waiting) {
    if (packages[id].work == nullptr) continue;
    packages[id].work->stale_path.clear();
    if (changes >= options.stale_max) {
      FailPackage(id, Stage::kLoad, event.path + " changed " + std::to_string(changes) + " times while it was cooked: expected files that keep still");
    } else {
      Advance(id);
    }
  }
}

// And those whose cooks read its output, or wait for its list.
void CookCore::Impl::RequeueWithReaders(PackageId id, absl::btree_set<PackageId>& done) {
  std::vector<PackageId> to_do = {id};
  while (!to_do.empty()) {
    const PackageId next = to_do.back();
    to_do.pop_back();
    if (!done.insert(next).second) continue;
    Requeue(next);
    for (const InstigatorView& why : instigators.Of(next)) {
      if (why.category == InstigatorCategory::kBuildDependency && why.referencer.valid()) to_do.push_back(why.referencer);
    }
  }
}

}  // namespace galley::director
