#include "director/core/jobs/wait_evaluation.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace galley::director {
// The awaited package may have been given up when a cook ended.
void WaitEvaluation::WantAgain(PackageId on, PackageId waiter, CookMask cooks) {
  std::string error;
  if (!claimants_.IsWanted(on) && waits_.CanBeCookedInput(packages_.NameOf(on), &error))
    claims_.Bring(on, InstigatorCategory::kBuildDependency, waiter, cooks);
}

void WaitEvaluation::EvaluateGenerator(PackageId id) {
  PackageData& package = packages_[id];
  const PackageId generator = packages_.Find(GeneratorName(package.name));
  WantAgain(generator, id, package.cooks);
  if (package.generated != nullptr) {
    package.work->waits_for_generator = false;
    graph_.lifecycle().Refresh(id);
    graph_.Push({AgendaItem::Kind::kBegin, id});
  } else if (waits_.IsOver(generator)) {
    Unlisted(id, generator);
  } else {
    waits_.AddWaiter(generator, id);
  }
}

void WaitEvaluation::EvaluateWaits(PackageId id) {
  PackageData& package = packages_[id];
  if (package.work == nullptr) return;
  package.work->wakes = false;
  if (package.work->waits_for_generator) return EvaluateGenerator(id);
  const std::vector<Wait> waits = std::move(package.work->waits);
  package.work->waits.clear();
  PlatformMask missed = 0;
  for (const Wait& wait : waits) {
    if (package.slots[wait.platform].phase == Phase::kFailed) continue;
    WantAgain(wait.on, id, package.cooks);
    const Waits::Availability availability = waits_.AvailabilityOf(wait.on, wait.platform);
    if (availability == Waits::Availability::kPending) {
      package.work->waits.push_back(wait);
      waits_.AddWaiter(wait.on, id);
    } else if (availability == Waits::Availability::kNone && wait.is_certain) {
      package_progress_.FailPlatforms(id, MaskOf(wait.platform), Stage::kLoad,
                                      waits_.WhyNone(wait.on), "");
    } else if (availability == Waits::Availability::kNone) {
      missed |= MaskOf(wait.platform);
    }
  }
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (missed & MaskOf(p)) waits_.MissInstead(id, p);
    if (package.slots[p].phase != Phase::kWaiting) continue;
    const std::vector<Wait>& left = package.work->waits;
    const bool waits_on = std::any_of(left.begin(), left.end(), [&](const Wait& wait) {
      return !wait.is_certain && wait.platform == p;
    });
    if (!waits_on) graph_.lifecycle().SetPhase(id, p, Phase::kToLookUp);
  }
  package_progress_.Advance(id);
}

void WaitEvaluation::WaitForGenerator(PackageId id, PackageId generator) {
  packages_[id].work->waits_for_generator = true;
  waits_.AddWaiter(generator, id);
  graph_.lifecycle().Refresh(id);
  wait_cycles_.BreakCycles(id);
}

// The package's generator is over and does not list the package. A reference to the package is
// judged at the end.
void WaitEvaluation::Unlisted(PackageId id, PackageId generator) {
  PackageData& package = packages_[id];
  // A cook that has come since wants the generator, too, which may be tried again for the cook.
  const CookMask fresh = package.cooks & claimants_.masks().open & ~packages_[generator].cooks &
                         ~package.asked_generator;
  package.asked_generator |= fresh;
  if (fresh != 0) claims_.Join(generator, InstigatorCategory::kBuildDependency, id, fresh);
  if (!waits_.IsOver(generator)) return WaitForGenerator(id, generator);
  package.work->waits_for_generator = false;
  const PackageData& from = packages_[generator];
  const bool has_failed =
      from.is_skipped || (from.outcome == Outcome::kFailed && !from.is_listing_final);
  const CookMask active = package.cooks & claimants_.masks().active;
  // In a cook for which its generator was not tried, the package is missing as if the generator
  // listed others.
  const CookMask skipping = has_failed ? active & from.cooks : 0;
  const CookMask lacking = active & ~skipping;
  const CookMask failing = package.is_cooked_input ? lacking : lacking & package.selected_by;
  const std::string text =
      from.name + " does not generate it: expected it in the list of packages that its cook gives";
  if (skipping == 0 && failing == 0) return claims_.Leave(id, "not generated");
  claims_.Unclaim(id, lacking & ~failing);
  if (skipping == 0) return package_progress_.FailPackage(id, Stage::kRequest, text);
  claims_.TellLeft(id,
                   skipping);  // it may have failed before, when its generator listed others
  claimants_.ForEachOf(failing, [&](Claimant& cook) {
    cook_only_failures_.Fail(cook, id, ~PlatformMask{0}, Stage::kRequest, text);
  });
  claims_.Skip(id);
}

}  // namespace galley::director
