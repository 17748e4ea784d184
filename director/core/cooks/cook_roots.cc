#include "director/core/cooks/cook_roots.h"

#include <bit>
#include <utility>

#include "director/core/conflict_text.h"

namespace galley::director {
void CookRoots::Build() {
  cook_.is_settling = true;
  claimants_.NoteState();
  built_.clear();
  unpublished_ = cook_.request.platforms;
  for (PlatformIndex p = 0; p < step_.platform_count; ++p) {
    if (unpublished_ & MaskOf(p)) SendRoot(p);
  }
  if (unpublished_ == 0) StageOrEnd();
}

void CookRoots::SendRoot(PlatformIndex platform) {
  BuildRoot root{.platform = platform, .packages = cook_.manifest->RootOf(platform)};
  root.platform_set = cook_.manifest->platform_set();
  root.round = cook_.rounds;
  root.request = cook_.request.request;
  root.is_difference = cook_.request.standing != nullptr;
  effects_.roots.emplace_back(std::move(root));
}

bool CookRoots::OnRootBuilt(const RootBuilt& event) {
  if (cook_.is_over || !cook_.is_settling || cook_.is_publishing || cook_.is_ending() ||
      event.platform_set != cook_.manifest->platform_set() || event.round != cook_.rounds ||
      !(unpublished_ & MaskOf(event.platform)))
    return false;
  if (!event.error.empty())
    return cook_.Conclude("a root could not be built: " + event.error), false;
  // Several platforms' answers may say that the difference is too narrow.
  if (event.is_too_narrow) return cook_.request.standing != nullptr;
  if (!event.lost.empty()) {
    lost_blob_repair_.MakeAgain(event.lost);
    if (!cook_.conclusion.has_value())
      lost_blob_repair_.SendLookForLost();  // the builder asked the index, not the disk
    return false;
  }
  if (event.conflicts.empty()) {
    built_[event.platform] = event.root;
    PublishIfBuilt();
    return false;
  }
  bool has_failed = false;
  const auto fail = [&](PackageId id, PackageId other, const RootBuilt::Conflict& conflict) {
    if (!packages_.Has(id)) return;
    has_failed |= cook_only_failures_.FailInRoot(
        cook_, id, event.platform, Stage::kCommit,
        id == other ? "its output " + conflict.path + " cannot be in a tree: " + conflict.reason
                    : ConflictText({conflict.path, packages_.NameOf(other), conflict.reason}));
  };
  for (const RootBuilt::Conflict& conflict : event.conflicts) {
    fail(conflict.first, conflict.second, conflict);
    if (conflict.second != conflict.first) fail(conflict.second, conflict.first, conflict);
  }
  if (!has_failed)
    return cook_.Conclude(
               "a root could not be built: conflicts between packages that are not in it"),
           false;
  if (cook_.is_ending()) return false;
  warnings_.NoteFailedTargets(cook_);
  SendRoot(event.platform);
  return false;
}

// The roots are published together: a cook that is interrupted, or fails fast for a conflict,
// publishes no root. No root is published while a look for lost bytes is under way: its answer may
// open the cook again.
void CookRoots::PublishIfBuilt() {
  if (built_.empty() || built_.size() < static_cast<size_t>(std::popcount(unpublished_))) return;
  if (lost_blob_repair_.is_looking()) return;
  cook_.is_publishing = cook_.has_published = true;
  cook_.manifest->DropReferences();
  for (const auto& [platform, root] : built_)
    effects_.roots.emplace_back(PublishRoot{.platform = platform,
                                            .root = root,
                                            .by_the_book = cook_.request.by_the_book,
                                            .platform_set = cook_.manifest->platform_set(),
                                            .round = cook_.rounds,
                                            .request = cook_.request.request});
}

void CookRoots::OnRootPublished(const RootPublished& event) {
  if (cook_.is_over || !cook_.is_settling || cook_.is_ending() || event.round != cook_.rounds)
    return;
  if (!cook_.is_publishing || event.platform_set != cook_.manifest->platform_set()) return;
  // The root of a platform that is gone is not wanted.
  const bool is_there = step_.platform_sets.Index(event.platform, event.platform_set).has_value();
  if (!event.error.empty() && is_there)
    return cook_.Conclude("a root could not be published: " + event.error);
  unpublished_ &= ~MaskOf(event.platform);
  if (unpublished_ == 0) StageOrEnd();
}

// Goes on when each root that is to be published is published.
void CookRoots::StageOrEnd() {
  if (!cook_.request.is_staged) return cook_.Conclude("");
  cook_.is_staging = true;
  effects_.roots.emplace_back(StageRoots{.round = cook_.rounds, .request = cook_.request.request});
}

void CookRoots::OnRootsStaged(const RootsStaged& event) {
  if (cook_.is_over || !cook_.is_staging || event.round != cook_.rounds) return;
  if (event.loss.empty()) return cook_.Conclude("");
  lost_blob_repair_.OnUnstaged(event.loss);
}

}  // namespace galley::director
