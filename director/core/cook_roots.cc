#include "director/core/cook_roots.h"

#include <bit>

#include "director/core/conflict_text.h"
#include "director/core/core.h"

namespace galley::director {
void CookRoots::Build(const std::vector<PackageId>& by_name) {
  is_settling_ = true;
  unpublished_ = cook_.request().platforms;
  for (PlatformIndex p = 0; p < core_.platform_count; ++p) {
    if (unpublished_ & MaskOf(p)) SendRoot(p, by_name);
  }
  core_.cooks.NoteState();
  if (unpublished_ == 0) StageOrEnd();
}

void CookRoots::Remap(const PlatformMap& map) {
  if (!is_publishing_) unpublished_ = map.Mask(unpublished_);
}

// The closure of what was selected, over results that stand.
void CookRoots::SendRoot(PlatformIndex platform, const std::vector<PackageId>& by_name) {
  std::vector<PackageId> found;
  std::vector<bool> is_found(packages_.size(), false);
  const auto is_done = [&](PackageId id) {
    const PackageData& package = packages_[id];
    return cook_.Wants(id) && platform < package.slots.size() &&
           package.slots[platform].phase == Phase::kDone &&
           (cook_.judging.JudgedOf(id) & MaskOf(platform)) == 0;
  };
  const auto add = [&](PackageId id) {
    if (is_found[id.index()] || !is_done(id)) return;
    if (const std::string_view name = GeneratorName(NameOf(id)); !name.empty()) {
      const PackageId generator = packages_.Find(name);
      if (!generator.valid() || !is_done(generator)) return;
    }
    is_found[id.index()] = true;
    found.push_back(id);
  };
  for (const PackageId id : by_name) {
    if (packages_[id].selected_by & cook_.bit()) add(id);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    graph().edges.ForEachReference(found[i], [&](const Edge& edge) {
      if ((edge.platforms & MaskOf(platform)) && cook_.Follows(edge)) add(edge.target);
    });
    for (const PackageId child : packages_[found[i]].generates) add(child);
  }
  BuildRoot root{.platform = platform};
  root.platform_set = core_.platform_sets.present();
  root.round = cook_.losing.rounds();
  root.request = cook_.request().request;
  root.is_difference = cook_.request().standing != nullptr;
  for (const PackageId id : by_name) {
    if (is_found[id.index()])
      root.packages.emplace_back(id, packages_[id].slots[platform].result->id);
  }
  turn_.roots.emplace_back(std::move(root));
}

void CookRoots::OnRootBuilt(const RootBuilt& event) {
  if (cook_.is_over() || !is_settling_ || cook_.is_ending() ||
      event.platform_set != core_.platform_sets.present() || event.round != cook_.losing.rounds() ||
      !(unpublished_ & MaskOf(event.platform)))
    return;
  if (!event.error.empty()) return cook_.End("a root could not be built: " + event.error);
  if (event.is_too_narrow) {
    // (Each platform's answer may say so.)
    if (cook_.request().standing != nullptr) cook_.Widen(event.whole);
    return;
  }
  if (!event.lost.empty()) {
    cook_.losing.MakeAgain(event.lost);
    if (!cook_.is_over())
      cook_.losing.SendLookForLost();  // the builder asked the index, not the disk
    return;
  }
  if (event.conflicts.empty()) {
    built_[event.platform] = event.root;
    return PublishIfBuilt();
  }
  bool has_failed = false;
  const auto fail = [&](PackageId id, PackageId other, const RootBuilt::Conflict& conflict) {
    if (!packages_.Has(id) || !cook_.Wants(id)) return;
    has_failed |= (core_.advancing.InPhase(id, Phase::kDone) & ~cook_.judging.JudgedOf(id) &
                   MaskOf(event.platform)) != 0;
    cook_.judging.FailJudged(
        id, MaskOf(event.platform), Stage::kCommit,
        id == other ? "its output " + conflict.path + " cannot be in a tree: " + conflict.reason
                    : ConflictText({conflict.path, NameOf(other), conflict.reason}));
  };
  for (const RootBuilt::Conflict& conflict : event.conflicts) {
    fail(conflict.first, conflict.second, conflict);
    if (conflict.second != conflict.first) fail(conflict.second, conflict.first, conflict);
  }
  if (!has_failed)
    return cook_.End("a root could not be built: conflicts between packages that are not in it");
  if (cook_.is_ending()) return;
  cook_.warnings.NoteFailedTargets();
  SendRoot(event.platform, cook_.WantedByName());
}

// All roots are published together: a cook that is interrupted, or fails fast for a conflict,
// publishes none. None is published while a look for lost bytes is under way: its answer may open
// the cook again.
void CookRoots::PublishIfBuilt() {
  if (built_.empty() || built_.size() < static_cast<size_t>(std::popcount(unpublished_))) return;
  if (cook_.losing.is_looking()) return;
  is_publishing_ = has_published_ = true;
  publishing_set_ = core_.platform_sets.present();
  for (const auto& [platform, root] : built_)
    turn_.roots.emplace_back(PublishRoot{.platform = platform,
                                         .root = root,
                                         .by_the_book = cook_.request().by_the_book,
                                         .platform_set = core_.platform_sets.present(),
                                         .round = cook_.losing.rounds(),
                                         .request = cook_.request().request});
}

void CookRoots::OnRootPublished(const RootPublished& event) {
  if (cook_.is_over() || !is_settling_ || cook_.is_ending() || event.round != cook_.losing.rounds())
    return;
  if (!is_publishing_ || event.platform_set != publishing_set_) return;
  // (Nobody wants the root of a platform that is gone.)
  const bool is_there = core_.platform_sets.Index(event.platform, event.platform_set).has_value();
  if (!event.error.empty() && is_there)
    return cook_.End("a root could not be published: " + event.error);
  unpublished_ &= ~MaskOf(event.platform);
  if (unpublished_ == 0) StageOrEnd();
}

// All roots that are to be published are published.
void CookRoots::StageOrEnd() {
  if (!cook_.request().is_staged) return cook_.End("");
  is_staging_ = true;
  turn_.roots.emplace_back(
      StageRoots{.round = cook_.losing.rounds(), .request = cook_.request().request});
}

void CookRoots::OnRootsStaged(const RootsStaged& event) {
  if (cook_.is_over() || !is_staging_ || event.round != cook_.losing.rounds()) return;
  if (event.loss.empty()) return cook_.End("");
  cook_.losing.OnUnstaged(event.loss);
}

void CookRoots::OpenAgain() {
  is_settling_ = is_publishing_ = is_staging_ = false;
  built_.clear();
  core_.cooks.NoteState();
}

}  // namespace galley::director
