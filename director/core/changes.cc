#include "director/core/changes.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "common/base/status_macros.h"
#include "director/core/core.h"

namespace galley::director {
namespace {

// AddedPlatforms: what PlatformsChanged adds to the cooks that are open, by slot.
class AddedPlatforms {
 public:
  AddedPlatforms(const PlatformsChanged& event, const CookTable& cooks, CookMask open) {
    cooks.ForEachOf(open, [&](const Cook& cook) {
      const PlatformMask added = Of(event, cook.request().request);
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

void Changes::TakeLate() {
  if (core_.cooks.settling() != 0 || core_.cooks.active() == 0) return;
  if (late_changes_.empty()) return;
  ++core_.epoch;  // references that were judged since were judged beside packages as they were
  for (const FilesChanged& change : std::exchange(late_changes_, {})) TakeChange(change);
  Release();
  core_.exploring.ExploreLate();
}

// Packages that are held go on, with the new files or, where no change reached them, as before.
void Changes::Release() {
  for (const PackageId id : std::exchange(held_, {})) {
    PackageData& package = packages_[id];
    if (package.work == nullptr || !std::exchange(package.work->is_held, false)) continue;
    if (package.work->has_begun) {
      core_.advancing.Advance(id);
    } else {
      graph().Push({AgendaItem::Kind::kBegin, id});
    }
  }
}

// Questions that were asked are answered from the new files: they are asked again.
void Changes::Hold(PackageId id) {
  PackageData& package = packages_[id];
  package.work->is_held = true;
  const PlatformMask asked = core_.advancing.InPhase(id, Phase::kLookingUp);
  if (asked != 0) ++package.generation;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((asked & MaskOf(p)) != 0) lifecycle().SetPhase(id, p, Phase::kToLookUp);
  }
  core_.advancing.Advance(id);
}

void Changes::OnFilesChanged(const FilesChanged& event) {
  if (event.catalog != nullptr) core_.catalog = event.catalog;
  ++core_.epoch;
  const NewNames new_names = NewNamesOf(event.renamed);
  core_.cooks.ForEachWaiting(
      [&](CookRequested& waiting) { RenameIn(waiting.selected, 0, new_names); });
  ForgiveWaiting(event);
  core_.cooks.Discover(event.discovered);
  if (core_.cooks.running() == 0) return;
  if (core_.cooks.active() != 0 && core_.cooks.settling() == 0) return TakeChange(event);
  // Roots are built from the files as they were before, unless their cook is opened again
  // (PlatformsChanged, or bytes that the store lost). Until then other cooks wait with theirs.
  // (So do those that begin while all others are ending.)
  ForgiveLate(event);
  late_changes_.push_back({nullptr, event.packages, event.paths, event.renamed});
}

// Faults that an earlier director saw for a cook that still waits for its turn.
void Changes::ForgiveWaiting(const FilesChanged& event) {
  bool is_any_blamed = false;
  core_.cooks.ForEachWaiting(
      [&](const CookRequested& waiting) { is_any_blamed |= !waiting.blamed.empty(); });
  if (!is_any_blamed) return;
  absl::btree_set<std::string_view> changed(event.packages.begin(), event.packages.end());
  absl::btree_set<PackageId> done;
  for (const std::string& name : event.packages) {
    if (const PackageId package = packages_.Find(name); package.valid()) {
      graph().claims.ForEachWithReaders(package, done,
                                        [&](PackageId one) { changed.insert(NameOf(one)); });
    }
  }
  core_.cooks.ForEachWaiting([&](CookRequested& waiting) {
    for (CookRequested::Blamed& one : waiting.blamed) {
      if (changed.contains(one.package))
        one.own_faults = std::min(one.own_faults, options_.own_fault_attempts_max - 1);
    }
  });
}

// The next director must not take a fault of older content for the last one that a package may
// have.
void Changes::ForgiveLate(const FilesChanged& event) {
  absl::btree_set<PackageId> done;
  const auto forgive = [&](std::string_view name) {
    const PackageId package = packages_.Find(name);
    if (!package.valid()) return;
    graph().claims.ForEachWithReaders(package, done, [&](PackageId one) {
      forgiven_late_.insert(one);
      graph().faults.NoteForgiven(one, options_.own_fault_attempts_max - 1);
      held_.insert(one);
      if (packages_[one].work != nullptr) Hold(one);
    });
  };
  for (const std::string& name : event.packages) forgive(name);
  for (const FilesChanged::Renamed& renamed : event.renamed) {
    forgive(renamed.from);
    forgive(renamed.to);
  }
}

void Changes::TakeChange(const FilesChanged& event) {
  absl::btree_set<PackageId> waiting;
  for (const std::string& path : event.paths) {
    StaleFile& file = stale_files_[path];
    if (file.changes++ == 0) file.cooks = core_.cooks.running();
    file.epoch = core_.epoch;
    const auto waiters = stale_waiters_.extract(path);
    if (!waiters.empty()) waiting.insert(waiters.mapped().begin(), waiters.mapped().end());
  }
  absl::btree_set<PackageId> done;
  RenameAll(event.renamed, done);
  for (const std::string& name : event.packages) {
    const PackageId package = packages_.Find(name);
    if (package.valid()) graph().claims.RequeueWithReaders(package, done);
  }
  for (const PackageId id : waiting) {
    if (packages_[id].work == nullptr) continue;
    const std::string path = std::exchange(packages_[id].work->stale_path, "");
    const uint32_t changes = stale_files_[path].changes;
    if (changes >= options_.stale_max) {
      core_.advancing.FailPackage(id, Stage::kLoad,
                                  path + " changed " + std::to_string(changes) +
                                      " times while it was cooked: expected files that keep still");
    } else {
      core_.advancing.Advance(id);
    }
  }
}

NewNames Changes::NewNamesOf(const std::vector<FilesChanged::Renamed>& all) {
  NewNames new_names;
  for (const FilesChanged::Renamed& renamed : all) new_names[renamed.from] = renamed.to;
  return new_names;
}

void RenameIn(std::vector<SelectedPackage>& selected, size_t first, const NewNames& new_names) {
  if (new_names.empty()) return;
  for (size_t i = first; i < selected.size(); ++i) {
    const auto found = new_names.find(selected[i].name);
    if (found != new_names.end()) selected[i].name = std::string(found->second);
  }
}

// All renames are done at once, not one after the other: names may be exchanged, or handed on in a
// row. References to an old name lead to the package that has it now, or nowhere; packages that
// read the old one's output are looked up again.
void Changes::RenameAll(const std::vector<FilesChanged::Renamed>& all,
                        absl::btree_set<PackageId>& done) {
  if (all.empty()) return;
  const NewNames new_names = NewNamesOf(all);
  core_.cooks.ForEachOf(core_.cooks.running(), [&](Cook& cook) { cook.RenameSelected(new_names); });
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
    graph().edges.ForEachInstigator(from, [&](const InstigatorView& why) {
      if (!why.referencer.valid()) one.causes.push_back(why.category);
    });
    // (A package that is never cooked has left the cook, and may be wanted under its new name.)
    if (!packages_[from].is_in_cook() && one.causes.empty()) continue;
    one.selected_by = std::exchange(packages_[from].selected_by, 0);
    one.named_by = std::exchange(packages_[from].named_by, 0);
    moved.push_back(std::move(one));
  }
  for (const Moved& one : moved) {
    graph().claims.Leave(one.from, "renamed");
    graph().edges.DropRoots(one.from);
    graph().claims.RequeueWithReaders(one.from, done);
  }
  for (const Moved& one : moved) {
    const PackageId to = graph().claims.FindOrAdd(one.to);
    packages_[to].selected_by |= one.selected_by;
    packages_[to].named_by |= one.named_by;
    for (const InstigatorCategory cause : one.causes)
      graph().claims.Join(to, cause, PackageId(), one.selected_by);
    // `to` may have failed, when no file had that name.
    graph().claims.RequeueWithReaders(to, done);
  }
}

void Changes::OnPackagesCleared(const PackagesCleared& event) {
  if (core_.cooks.active() == 0 || core_.cooks.settling() != 0) return;
  absl::btree_set<PackageId> done;
  for (const std::string& name : event.packages) {
    const PackageId package = packages_.Find(graph().claims.NameAsked(name));
    if (!package.valid()) continue;
    graph().faults.NoteForgiven(package, 0);
    graph().blame.Forget(package);
    graph().faults.Pardon(package);
    graph().claims.RequeueWithReaders(package, done);
  }
}

// All that is stored is remapped in one pass, and packages go on in a second one, since a package
// that goes on may look at others.
void Changes::OnPlatformsChanged(const PlatformsChanged& event) {
  GALLEY_CHECK(event.mapping.size() == core_.platform_count);
  GALLEY_CHECK(event.platform_count >= 1 && event.platform_count <= 32);
  if (event.catalog != nullptr) core_.catalog = event.catalog;
  const PlatformMap map(event.mapping);
  lifecycle().CountEvery(false);
  core_.platform_sets.Add(map);
  core_.platform_count = event.platform_count;
  // A cook whose roots are being published is over but for that.
  CookMask open = 0;
  core_.cooks.ForEachOf(core_.cooks.active(), [&](const Cook& cook) {
    if (!cook.roots.is_publishing()) open |= cook.bit();
  });
  const AddedPlatforms added(event, core_.cooks, open);
  if (added.is_any()) graph().faults.PardonAll();  // one more chance
  core_.cooks.ForEachWaiting([&](CookRequested& waiting) {
    waiting.platforms = map.Mask(waiting.platforms) | AddedPlatforms::Of(event, waiting.request);
  });
  core_.commits.Remap(map);
  core_.proofs.DropAll();
  graph().agenda.Remap(map, [this](PackageId id) { --packages_[id].on_agenda; });
  core_.cooks.ForEachOf(core_.cooks.running(), [&](Cook& cook) {
    cook.Remap(map, added.For(cook.bit()));
    cook.roots.Remap(map);
    cook.judging.Remap(map);
    if ((open & cook.bit()) != 0) cook.roots.OpenAgain();
  });
  lifecycle().equal_work().Clear();
  for (uint32_t i = 0; i < packages_.size(); ++i)
    RemapPackage(PackageId(i), map, added.For(packages_[PackageId(i)].cooks));
  lifecycle().CountEvery(true);
  // Before anything goes on: a cook that has nothing left to do on its platforms is not over.
  if (event.files.has_value()) OnFilesChanged(*event.files);
  for (uint32_t i = 0; i < packages_.size(); ++i)
    GoOnWithPlatforms(PackageId(i), added.For(packages_[PackageId(i)].cooks));
  TakeLate();
}

void Changes::RemapPackage(PackageId id, const PlatformMap& map, PlatformMask added) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook()) return;
  // Answers that are on their way speak of other numbers. (Perhaps nobody waits for them any more,
  // because the result came from a worker; but the next question must not take them.) Jobs are as
  // they were.
  ++package.generation;
  lifecycle().Remap(id, map, added, core_.cooks.FirstPhaseOf(id));
  graph().edges.Remap(id, map);
  for (Problem& problem : package.problems) problem.platforms = map.Mask(problem.platforms);
  package.problems.EraseIf([](const Problem& problem) { return problem.platforms == 0; });
  if (package.work == nullptr) return;
  std::erase_if(package.work->waits, [&](Wait& wait) {
    const std::optional<PlatformIndex> platform = map.Index(wait.platform);
    wait.platform = platform.value_or(0);
    return !platform.has_value();
  });
  for (const AttemptId current : core_.attempts.At(id)) {
    Attempt& attempt = core_.attempts.at(current);
    const PlatformMask remaining = map.Mask(attempt.remaining);
    attempt.is_partial |= std::popcount(remaining) != std::popcount(attempt.remaining);
    attempt.remaining = remaining;
  }
}

void Changes::GoOnWithPlatforms(PackageId id, PlatformMask added) {
  PackageData& package = packages_[id];
  if (!package.is_in_cook()) return;
  if (package.work != nullptr) {
    for (const AttemptId attempt : core_.attempts.At(id)) {
      if (core_.attempts.at(attempt).remaining == 0)
        core_.attempts.EndAttempt(attempt, Tell::kCancel);
    }
    return core_.advancing.Advance(id);
  }
  if (package.outcome == Outcome::kNone && !package.is_skipped) return;  // not begun
  if (added == 0) {
    if (!package.is_skipped) core_.advancing.Conclude(id);
    return;
  }
  lifecycle().SetOutcome(id, Outcome::kNone);
  lifecycle().SetSkipped(id, false);
  graph().Push({AgendaItem::Kind::kBegin, id});
}

void Changes::WaitForScan(PackageId id, const std::string& path, uint32_t attempt_epoch) {
  const auto file = stale_files_.find(path);
  if (file != stale_files_.end() && attempt_epoch < file->second.epoch) return;
  packages_[id].work->stale_path = path;
  absl::btree_set<PackageId>& waiters = stale_waiters_[path];
  if (waiters.empty()) turn_.rescans.push_back(path);
  waiters.insert(id);
}

void Changes::LetGo(CookMask cook) {
  for (auto at = stale_files_.begin(); at != stale_files_.end();) {
    at->second.cooks &= ~cook;
    at = at->second.cooks == 0 ? stale_files_.erase(at) : std::next(at);
  }
}

void Changes::StopWaitingForScan(PackageId id) {
  const auto waiters = stale_waiters_.find(packages_[id].work->stale_path);
  if (waiters != stale_waiters_.end()) waiters->second.erase(id);
}

}  // namespace galley::director
