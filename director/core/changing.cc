// Files change under a cook.
#include <algorithm>
#include <utility>

#include "director/core/cook_core_impl.h"

namespace galley::director {

void CookCore::Impl::OnFilesChanged(const FilesChanged& event) {
  if (event.catalog != nullptr) catalog = event.catalog;
  ++epoch;
  // Once roots are being built the cook belongs to the snapshot before.
  if (!request.has_value() || ending != Ending::kNone || is_settling) return;
  absl::btree_set<PackageId> waiting;
  for (const std::string& path : event.paths) {
    StaleFile& file = stale_files[path];
    ++file.changes;
    file.epoch = epoch;
    const auto waiters = stale_waiters.extract(path);
    if (!waiters.empty()) waiting.insert(waiters.mapped().begin(), waiters.mapped().end());
  }
  absl::btree_set<PackageId> done;
  for (const std::string& name : event.packages) {
    const PackageId package = packages.Find(name);
    if (package.valid()) RequeueWithReaders(package, done);
  }
  for (const PackageId id : waiting) {
    if (packages[id].work == nullptr) continue;
    const std::string path = std::exchange(packages[id].work->stale_path, "");
    const uint32_t changes = stale_files[path].changes;
    if (changes >= options.stale_max) {
      FailPackage(id, Stage::kLoad,
                  path + " changed " + std::to_string(changes) +
                      " times while it was cooked: expected files that keep still");
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
    edges.ForEachInstigator(next, [&](const InstigatorView& why) {
      if (why.category == InstigatorCategory::kBuildDependency && why.referencer.valid())
        to_do.push_back(why.referencer);
    });
  }
}

}  // namespace galley::director
