#include "director/core/cooks/project_changes.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "common/base/status_macros.h"
#include "director/core/packages/changed_names.h"

namespace galley::director {
namespace {

// AddedPlatforms: what PlatformsChanged adds to the cooks that are open, by slot.
class AddedPlatforms {
 public:
  AddedPlatforms(const PlatformsChanged& event, const Claimants& cooks, CookMask open) {
    cooks.ForEachOf(open, [&](const Claimant& cook) {
      const PlatformMask added = Of(event, cook.request.request);
      if (added != 0) to_.emplace_back(cook.bit(), added);
    });
  }

  bool is_any() const { return !to_.empty(); }
  PlatformMask For(CookMask cooks) const {
    PlatformMask all = 0;
    for (const auto& [cook, added] : to_) all |= (cooks & cook) != 0 ? added : 0;
    return all;
  }
  static PlatformMask Of(const PlatformsChanged& event, uint64_t request) {
    PlatformMask all = 0;
    for (const PlatformsChanged::Added& one : event.added)
      all |= one.request == request ? one.platforms : 0;
    return all;
  }

 private:
  std::vector<std::pair<CookMask, PlatformMask>> to_;
};

}  // namespace

void ProjectChanges::OnFilesChanged(const FilesChanged& event) {
  if (event.catalog != nullptr) step_.catalog = event.catalog;
  ++step_.epoch;
  const NewNames new_names = NewNamesOf(event.renamed);
  deps_.cooks.ForEachWaiting(
      [&](CookRequested& waiting) { RenameIn(waiting.selected, 0, new_names); });
  ForgiveWaiting(event);
  deps_.cooks.Discover(event.discovered);
  if (claimants_.masks().running != 0) TakeChange(event);
}

// Faults that an earlier director saw for a cook that still waits for its turn.
void ProjectChanges::ForgiveWaiting(const FilesChanged& event) {
  bool is_any_blamed = false;
  deps_.cooks.ForEachWaiting(
      [&](const CookRequested& waiting) { is_any_blamed |= !waiting.blamed.empty(); });
  if (!is_any_blamed) return;
  absl::btree_set<std::string_view> changed(event.packages.begin(), event.packages.end());
  absl::btree_set<PackageId> done;
  for (const std::string& name : event.packages) {
    if (const PackageId package = packages_.Find(name); package.valid()) {
      graph_.ForEachWithReaders(package, done,
                                [&](PackageId one) { changed.insert(packages_.NameOf(one)); });
    }
  }
  deps_.cooks.ForEachWaiting([&](CookRequested& waiting) {
    for (CookRequested::Blamed& one : waiting.blamed) {
      if (changed.contains(one.package))
        one.own_faults = std::min(one.own_faults, retry_.OneChanceLeft());
    }
  });
}

void ProjectChanges::TakeChange(const FilesChanged& event) {
  absl::btree_set<PackageId> waiting;
  const CookMask seeing = claimants_.masks().running & ~claimants_.masks().settling;
  for (const std::string& path : event.paths) {
    const absl::btree_set<PackageId> waiters =
        graph_.pending_changes().NoteScanned(path, seeing, step_.epoch);
    waiting.insert(waiters.begin(), waiters.end());
  }
  absl::btree_set<PackageId> done;
  RenameAll(event.renamed, done);
  for (const std::string& name : event.packages) {
    const PackageId package = packages_.Find(name);
    if (package.valid()) deps_.claims.RequeueWithReaders(package, done);
  }
  for (const PackageId id : waiting) {
    if (packages_[id].work == nullptr) continue;
    const std::string path = std::exchange(packages_[id].work->stale_path, "");
    const uint32_t changes = graph_.pending_changes().ChangesOf(path);
    if (retry_.AreChangesEnough(changes)) {
      deps_.package_progress.FailPackage(
          id, Stage::kLoad,
          path + " changed " + std::to_string(changes) +
              " times while it was cooked: expected files that keep still");
    } else {
      deps_.package_progress.Advance(id);
    }
  }
}

// The renames are done at once, not one after the other: names may be exchanged, or handed on in a
// row. References to an old name lead to the package that has the name now, or nowhere; packages
// that read the output under the old name are looked up again.
void ProjectChanges::RenameAll(const std::vector<FilesChanged::Renamed>& all,
                               absl::btree_set<PackageId>& done) {
  if (all.empty()) return;
  const NewNames new_names = NewNamesOf(all);
  // Packages that were selected up to now are in the cook already.
  claimants_.ForEachOf(claimants_.masks().running, [&](Claimant& cook) {
    RenameIn(cook.request.selected, cook.selected, new_names);
    if (cook.is_settling) cook.missed_renames.push_back(all);
  });
  struct Moved {
    PackageId from;
    std::string_view to;
    CookMask selected_by = 0;
    CookMask named_by = 0;
    std::vector<InstigatorCategory> causes;
  };
  std::vector<Moved> moved;
  for (const auto& [from_name, to_name] : new_names) {
    const PackageId from = packages_.Find(from_name);
    if (!from.valid()) continue;
    Moved one{.from = from, .to = to_name};
    graph_.edges().ForEachInstigator(from, [&](const InstigatorView& why) {
      if (!why.referencer.valid()) one.causes.push_back(why.category);
    });
    // A package that is never cooked has left the cook, and may be wanted under its new name.
    if (!packages_[from].is_in_cook() && one.causes.empty()) continue;
    // An ask is for the old name, and fails. A cook that is over may have left its slot to another.
    const CookMask cooks = claimants_.masks().running & kCooksBits;
    one.selected_by = std::exchange(packages_[from].selected_by, 0) & cooks;
    one.named_by = std::exchange(packages_[from].named_by, 0) & cooks;
    moved.push_back(std::move(one));
  }
  for (const Moved& one : moved) {
    deps_.claims.Leave(one.from, "renamed");
    claimants_.ForEachOf(claimants_.masks().active, [&](Claimant& cook) {
      deps_.cook_only_failures.TakeBackRefusal(cook, one.from);
    });
    graph_.edges().DropRoots(one.from);
    deps_.claims.RequeueWithReaders(one.from, done);
  }
  for (const Moved& one : moved) {
    const PackageId to = graph_.FindOrAdd(one.to);
    packages_[to].selected_by |= one.selected_by;
    packages_[to].named_by |= one.named_by;
    for (const InstigatorCategory cause : one.causes)
      deps_.claims.Join(to, cause, PackageId(), one.selected_by);
    // `to` may have failed, when no file had that name.
    deps_.claims.RequeueWithReaders(to, done);
  }
}

void ProjectChanges::OnPackagesCleared(const PackagesCleared& event) {
  if (claimants_.masks().running == 0) return;
  absl::btree_set<PackageId> done;
  for (const std::string& name : event.packages) {
    const PackageId package = packages_.Find(deps_.claims.NameAsked(name));
    if (!package.valid()) continue;
    Clear(package, done);
  }
}

void ProjectChanges::Clear(PackageId id, absl::btree_set<PackageId>& done) {
  deps_.package_progress.NoteForgiven(id, 0);
  graph_.blame().Forget(id);
  graph_.blame().Pardon(id);
  deps_.claims.MakeAgain(id, done);
}

// Stored numbers are remapped in a first pass, and packages go on in a second pass, since a package
// that goes on may look at others.
void ProjectChanges::OnPlatformsChanged(const PlatformsChanged& event) {
  GALLEY_CHECK(event.mapping.size() == step_.platform_count);
  GALLEY_CHECK(event.platform_count >= 1 && event.platform_count <= 32);
  if (event.catalog != nullptr) step_.catalog = event.catalog;
  const PlatformMap map(event.mapping);
  graph_.lifecycle().CountEvery(false);
  step_.platform_sets.Add(map);
  step_.platform_count = event.platform_count;
  // A cook whose roots are being published is over but for that. Other settled cooks are opened
  // again.
  CookMask open = 0;
  claimants_.ForEachOf(claimants_.masks().running, [&](const Claimant& cook) {
    if (!cook.is_ending() && !cook.is_publishing) open |= cook.bit();
  });
  const AddedPlatforms added(event, claimants_, open);
  if (added.is_any()) graph_.blame().PardonAll();  // one more chance
  deps_.cooks.ForEachWaiting([&](CookRequested& waiting) {
    waiting.platforms = map.Mask(waiting.platforms) | AddedPlatforms::Of(event, waiting.request);
  });
  deps_.commits.Remap(map);
  deps_.held_results.DropAll();
  graph_.RemapAgenda(map);
  deps_.cooks.ForEachOf(claimants_.masks().running, [&](Cook& cook) {
    Claimant& claimant = cook.claimant();
    cook.Remap(map, added.For(claimant.bit()));
    if ((open & claimant.bit()) != 0) claimants_.OpenAgain(claimant);
  });
  graph_.lifecycle().equal_work().Clear();
  for (uint32_t i = 0; i < packages_.size(); ++i)
    RemapPackage(PackageId(i), map, added.For(packages_[PackageId(i)].cooks));
  graph_.lifecycle().CountEvery(true);
  claimants_.ForEachOf(open, [&](Claimant& cook) { deps_.claims.TakeUpAgain(cook); });
  // Before any package goes on: a cook that has nothing left to do on its old platforms is not
  // over.
  if (event.files.has_value()) OnFilesChanged(*event.files);
  for (uint32_t i = 0; i < packages_.size(); ++i)
    GoOnWithPlatforms(PackageId(i), added.For(packages_[PackageId(i)].cooks));
}

void ProjectChanges::RemapPackage(PackageId id, const PlatformMap& map, PlatformMask added) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook()) return;
  // Answers that are on their way speak of other numbers. Perhaps no package waits for them any
  // more, because the result came from a worker, but the next question must not take them. Jobs
  // stay as they were.
  ++package.generation;
  graph_.lifecycle().Remap(id, map, added, FirstPhaseOf(claimants_, id));
  graph_.edges().Remap(id, map);
  for (Problem& problem : package.problems) problem.platforms = map.Mask(problem.platforms);
  package.problems.EraseIf([](const Problem& problem) { return problem.platforms == 0; });
  if (package.work == nullptr) return;
  std::erase_if(package.work->waits, [&](Wait& wait) {
    const std::optional<PlatformIndex> platform = map.Index(wait.platform);
    wait.platform = platform.value_or(0);
    return !platform.has_value();
  });
  for (const AttemptId current : deps_.attempts.At(id)) {
    Attempt& attempt = deps_.attempts.at(current);
    const PlatformMask remaining = map.Mask(attempt.remaining);
    attempt.is_partial |= std::popcount(remaining) != std::popcount(attempt.remaining);
    attempt.remaining = remaining;
  }
}

void ProjectChanges::GoOnWithPlatforms(PackageId id, PlatformMask added) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook()) return;
  if (package.work != nullptr) {
    for (const AttemptId attempt : deps_.attempts.At(id)) {
      if (deps_.attempts.at(attempt).remaining == 0)
        deps_.attempts.EndAttempt(attempt, Tell::kCancel);
    }
    return deps_.package_progress.Advance(id);
  }
  if (package.outcome == Outcome::kNone && !package.is_skipped) return;  // not begun
  if (added == 0) {
    if (!package.is_skipped) deps_.package_progress.Conclude(id);
    return;
  }
  graph_.lifecycle().SetOutcome(id, Outcome::kNone);
  graph_.lifecycle().SetSkipped(id, false);
  graph_.Push({AgendaItem::Kind::kBegin, id});
}

}  // namespace galley::director
