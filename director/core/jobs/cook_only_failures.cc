#include "director/core/jobs/cook_only_failures.h"

#include <bit>
#include <optional>

namespace galley::director {

void CookOnlyFailures::Fail(Claimant& cook, PackageId id, PlatformMask platforms, Stage stage,
                            const std::string& error) {
  // Other cooks may go on with a package that this cook rejects.
  const bool is_shared = (packages_[id].cooks & claimants_.masks().active) != cook.bit();
  const PlatformMask kept =
      is_shared ? ~InPhase(packages_[id], Phase::kFailed) : InPhase(packages_[id], Phase::kDone);
  const PlatformMask fresh = kept & platforms & cook.request.platforms & ~cook.JudgedOf(id);
  if (fresh != 0) {
    package_progress_.NoteFailed(id, fresh, stage, error, cook.bit());
    Set(cook.judged, id, cook.judged[id] | fresh);
    if (cook.FailsFast()) package_progress_.StopCook(cook, Claimant::Ending::kFailFast);
  }
  if (is_shared) return;
  // With fail_fast packages are judged before they are done: such packages are not cooked any
  // further.
  package_progress_.FailPlatforms(id, platforms & ~kept, stage, error, "");
  package_progress_.Advance(id);
}

void CookOnlyFailures::FailForInput(Claimant& cook, PackageId id, PlatformMask platforms,
                                    const std::string& error) {
  platforms &= cook.request.platforms;
  if (platforms == 0) return;
  cook.barred[id] |= platforms;
  Fail(cook, id, platforms, Stage::kLoad, error);
}

void CookOnlyFailures::Refuse(Claimant& cook, PackageId id, const std::string& error) {
  if (!cook.refused.insert(id).second) return;
  const PlatformMask platforms = cook.request.platforms;
  cook.tally.CountRefused(platforms, true);
  counts_.CookerOf(packages_[id]).results[static_cast<size_t>(ResultOutcome::kFailed)] +=
      static_cast<uint64_t>(std::popcount(platforms));
  effects_.Note(PackageFailed{.package = id,
                              .platform = std::nullopt,
                              .stage = Stage::kRequest,
                              .error = error,
                              .log = "",
                              .worker = WorkerId(),
                              .verdict = ResultId()},
                cook.bit());
  if (cook.FailsFast()) package_progress_.StopCook(cook, Claimant::Ending::kFailFast);
}

void CookOnlyFailures::TakeBackRefusal(Claimant& cook, PackageId id) {
  if (cook.refused.erase(id) == 0) return;
  cook.tally.CountRefused(cook.request.platforms, false);
  effects_.Note(PackageLeft{id}, cook.bit());
}

bool CookOnlyFailures::FailInRoot(Claimant& cook, PackageId id, PlatformIndex platform, Stage stage,
                                  const std::string& error) {
  const bool is_as_judged = IsAsJudged(cook, id, platform);
  if (!cook.manifest->Fail(id, platform)) return false;
  if (is_as_judged) {
    Fail(cook, id, MaskOf(platform), stage, error);
  } else {
    TellFailed(cook, id, platform, stage, error);
  }
  return true;
}

// False: the package was changed for other cooks since the judgement, or is another one.
bool CookOnlyFailures::IsAsJudged(const Claimant& cook, PackageId id,
                                  PlatformIndex platform) const {
  const PackageData& package = packages_[id];
  if (!cook.Wants(id) || platform >= package.slots.size()) return false;
  const Slot& slot = package.slots[platform];
  return slot.phase == Phase::kDone &&
         slot.result->id == cook.manifest->UsableResult(id, platform) &&
         (cook.JudgedOf(id) & MaskOf(platform)) == 0;
}

// The failure is of this cook's manifest alone: what became of the package is not touched.
void CookOnlyFailures::TellFailed(Claimant& cook, PackageId id, PlatformIndex platform, Stage stage,
                                  const std::string& error) {
  PackageFailed failed{.package = id, .stage = stage, .error = error};
  if (cook.manifest->platforms().size() > 1) failed.platform = platform;
  ++counts_.CookerOf(packages_[id]).results[static_cast<size_t>(ResultOutcome::kFailed)];
  effects_.Note(std::move(failed), cook.bit());
  if (cook.FailsFast()) package_progress_.StopCook(cook, Claimant::Ending::kFailFast);
}

void CookOnlyFailures::Settle(Claimant& cook, PackageId id, PlatformMask platforms) {
  platforms &= cook.request.platforms;
  if (platforms != 0) Set(cook.settled, id, cook.settled[id] | platforms);
}

void CookOnlyFailures::Set(Map& map, PackageId id, PlatformMask platforms) {
  graph_.lifecycle().Recount(id, [&] {
    if (platforms == 0) {
      map.erase(id);
    } else {
      map[id] = platforms;
    }
  });
}

void CookOnlyFailures::Forget(CookMask cooks, PackageId id) {
  claimants_.ForEachOf(cooks, [&](Claimant& cook) {
    cook.barred.erase(id);
    if (cook.settled.contains(id)) Set(cook.settled, id, 0);
    if (!cook.judged.contains(id)) return;
    Set(cook.judged, id, 0);
    TakeBack(cook);
  });
}

void CookOnlyFailures::TakeBack(Claimant& cook) {
  for (const auto& [other, platforms] : Map(cook.judged)) {
    const PackageData& package = packages_[other];
    const PlatformMask done = InPhase(package, Phase::kDone) & platforms;
    Set(cook.judged, other, platforms & ~done);
    for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
      if ((done & MaskOf(p)) != 0 && !cook.is_settling)
        package_progress_.TellDone(other, p, cook.bit());
    }
  }
}

void CookOnlyFailures::Remap(Claimant& cook, const PlatformMap& map) {
  for (auto& [package, platforms] : cook.judged) platforms = map.Mask(platforms);
  for (auto& [package, platforms] : cook.settled) platforms = map.Mask(platforms);
  for (auto& [package, platforms] : cook.barred) platforms = map.Mask(platforms);
  cook.judged_epoch = 0;
}

}  // namespace galley::director
