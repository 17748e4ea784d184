// Files change under a cook, and outcomes are forgotten.
#include <algorithm>
#include <utility>

#include "director/core/cook_core_impl.h"

namespace galley::director {

// Once roots are being built the cook belongs to what was before.
bool CookCore::Impl::CanStillChange() const {
  return request.has_value() && ending == Ending::kNone && !is_settling;
}

void CookCore::Impl::OnFilesChanged(const FilesChanged& event) {
  if (event.catalog != nullptr) catalog = event.catalog;
  ++epoch;
  if (!CanStillChange()) return;
  absl::btree_set<PackageId> waiting;
  for (const std::string& path : event.paths) {
    StaleFile& file = stale_files[path];
    ++file.changes;
    file.epoch = epoch;
    const auto waiters = stale_waiters.extract(path);
    if (!waiters.empty()) waiting.insert(waiters.mapped().begin(), waiters.mapped().end());
  }
  absl::btree_set<PackageId> done;
  for (const FilesChanged::Renamed& renamed : event.renamed) Rename(renamed, done);
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

// References to the old name lead nowhere from now on; who read its output is looked up again.
void CookCore::Impl::Rename(const FilesChanged::Renamed& renamed,
                            absl::btree_set<PackageId>& done) {
  for (size_t i = selected_next; i < request->selected.size(); ++i) {
    if (request->selected[i].name == renamed.from) request->selected[i].name = renamed.to;
  }
  const PackageId from = packages.Find(renamed.from);
  if (!from.valid() || !packages[from].is_in_cook) return;
  Leave(from, "renamed");
  RequeueWithReaders(from, done);
  const PackageId to = FindOrAdd(renamed.to);
  packages[to].is_selected |= std::exchange(packages[from].is_selected, false);
  packages[to].is_named |= std::exchange(packages[from].is_named, false);
  std::vector<InstigatorCategory> causes;
  edges.ForEachInstigator(from, [&](const InstigatorView& why) {
    if (!why.referencer.valid()) causes.push_back(why.category);
  });
  for (const InstigatorCategory cause : causes) Join(to, cause, PackageId());
  RequeueWithReaders(to, done);  // it may have failed, when no file had that name
}

void CookCore::Impl::OnPackagesCleared(const PackagesCleared& event) {
  if (!CanStillChange()) return;
  absl::btree_set<PackageId> done;
  for (const std::string& name : event.packages) {
    const PackageId package = packages.Find(NameAsked(name));
    if (!package.valid()) continue;
    blame.Forget(package);
    quarantined.erase(package);
    RequeueWithReaders(package, done);
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
