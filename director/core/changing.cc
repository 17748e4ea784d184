// Files change under a cook, and outcomes are forgotten.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "director/core/cook_core_impl.h"

namespace galley::director {

// Once roots are being built the cook belongs to what was before.
bool CookCore::Impl::CanStillChange() const {
  return request.has_value() && ending == Ending::kNone && !is_settling;
}

// Roots that are being built are not wanted any more. What is published stays (has_published).
void CookCore::Impl::OpenAgain() {
  is_settling = is_publishing = is_staging = false;
  built.clear();
}

// What changed while roots were built belongs to those that are built after them.
void CookCore::Impl::TakeLateChanges() {
  for (const FilesChanged& change : std::exchange(late_changes, {})) TakeChange(change);
}

// And those whose cooks read its output, or wait for its list.
template <typename Visit>
void CookCore::Impl::ForEachWithReaders(PackageId id, absl::btree_set<PackageId>& done,
                                        const Visit& visit) {
  std::vector<PackageId> to_do = {id};
  while (!to_do.empty()) {
    const PackageId next = to_do.back();
    to_do.pop_back();
    if (!done.insert(next).second) continue;
    visit(next);
    edges.ForEachInstigator(next, [&](const InstigatorView& why) {
      if (why.category == InstigatorCategory::kBuildDependency && why.referencer.valid())
        to_do.push_back(why.referencer);
    });
  }
}

void CookCore::Impl::OnFilesChanged(const FilesChanged& event) {
  if (event.catalog != nullptr) catalog = event.catalog;
  ++epoch;
  if (!waiting_requests.empty()) {
    const NewNames new_names = NewNamesOf(event.renamed);
    for (CookRequested& waiting : waiting_requests) RenameSelected(new_names, waiting, 0);
  }
  if (CanStillChange()) return TakeChange(event);
  if (request.has_value()) ForgiveLate(event);
  // The roots are of what was before, unless the cook is opened again (PlatformsChanged, or what
  // the store lost).
  if (request.has_value() && ending == Ending::kNone)
    late_changes.push_back({nullptr, event.packages, event.paths, event.renamed});
}

// The next director must not take a fault of what these were made of for the last one.
void CookCore::Impl::ForgiveLate(const FilesChanged& event) {
  absl::btree_set<PackageId> done;
  const auto forgive = [&](std::string_view name) {
    const PackageId package = packages.Find(name);
    if (!package.valid()) return;
    ForEachWithReaders(package, done, [this](PackageId one) {
      forgiven_late.insert(one);
      NoteForgiven(one, options.own_fault_attempts_max - 1);
    });
  };
  for (const std::string& name : event.packages) forgive(name);
  for (const FilesChanged::Renamed& renamed : event.renamed) {
    forgive(renamed.from);
    forgive(renamed.to);
  }
}

void CookCore::Impl::TakeChange(const FilesChanged& event) {
  absl::btree_set<PackageId> waiting;
  for (const std::string& path : event.paths) {
    StaleFile& file = stale_files[path];
    ++file.changes;
    file.epoch = epoch;
    const auto waiters = stale_waiters.extract(path);
    if (!waiters.empty()) waiting.insert(waiters.mapped().begin(), waiters.mapped().end());
  }
  absl::btree_set<PackageId> done;
  RenameAll(event.renamed, done);
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

CookCore::Impl::NewNames CookCore::Impl::NewNamesOf(const std::vector<FilesChanged::Renamed>& all) {
  NewNames new_names;
  for (const FilesChanged::Renamed& renamed : all) new_names[renamed.from] = renamed.to;
  return new_names;
}

// Those from `first` on.
void CookCore::Impl::RenameSelected(const NewNames& new_names, CookRequested& wanted,
                                    size_t first) {
  if (new_names.empty()) return;
  for (size_t i = first; i < wanted.selected.size(); ++i) {
    const auto found = new_names.find(wanted.selected[i].name);
    if (found != new_names.end()) wanted.selected[i].name = std::string(found->second);
  }
}

// At once, not one after the other: names may be exchanged, or handed on in a row. References to an
// old name lead to whoever has it now, or nowhere; who read its output is looked up again.
void CookCore::Impl::RenameAll(const std::vector<FilesChanged::Renamed>& all,
                               absl::btree_set<PackageId>& done) {
  if (all.empty()) return;
  const NewNames new_names = NewNamesOf(all);
  RenameSelected(new_names, *request, selected_next);
  struct Moved {
    PackageId from;
    std::string_view to;
    bool is_selected = false;
    bool is_named = false;
    std::vector<InstigatorCategory> causes;
  };
  std::vector<Moved> moved;
  for (const auto& [from_name, to_name] : new_names) {
    const PackageId from = packages.Find(from_name);
    if (!from.valid()) continue;
    Moved one{.from = from, .to = to_name};
    edges.ForEachInstigator(from, [&](const InstigatorView& why) {
      if (!why.referencer.valid()) one.causes.push_back(why.category);
    });
    // (What is never cooked has left the cook, and may be wanted under its new name.)
    if (!packages[from].is_in_cook && one.causes.empty()) continue;
    one.is_selected = std::exchange(packages[from].is_selected, false);
    one.is_named = std::exchange(packages[from].is_named, false);
    moved.push_back(std::move(one));
  }
  for (const Moved& one : moved) {
    Leave(one.from, "renamed");
    edges.DropRoots(one.from);
    RequeueWithReaders(one.from, done);
  }
  for (const Moved& one : moved) {
    const PackageId to = FindOrAdd(one.to);
    packages[to].is_selected |= one.is_selected;
    packages[to].is_named |= one.is_named;
    for (const InstigatorCategory cause : one.causes) Join(to, cause, PackageId());
    RequeueWithReaders(to, done);  // it may have failed, when no file had that name
  }
}

void CookCore::Impl::OnPackagesCleared(const PackagesCleared& event) {
  if (!CanStillChange()) return;
  absl::btree_set<PackageId> done;
  for (const std::string& name : event.packages) {
    const PackageId package = packages.Find(NameAsked(name));
    if (!package.valid()) continue;
    NoteForgiven(package, 0);
    blame.Forget(package);
    quarantined.erase(package);
    RequeueWithReaders(package, done);
  }
}

void CookCore::Impl::RequeueWithReaders(PackageId id, absl::btree_set<PackageId>& done) {
  ForEachWithReaders(id, done, [this](PackageId one) { Requeue(one); });
}

}  // namespace galley::director
