#include "director/core/jobs/wait_evaluation.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "director/core/packages/failure_texts.h"

namespace galley::director {
// The awaited package may have been given up when a cook ended.
void WaitEvaluation::WantAgain(PackageId on, PackageId waiter, CookMask cooks) {
  std::string error;
  if (!claimants_.IsWanted(on) && deps_.waits.CanBeCookedInput(packages_.NameOf(on), cooks, &error))
    deps_.claims.Bring(on, InstigatorCategory::kBuildDependency, waiter, cooks);
}

void WaitEvaluation::EvaluateGenerator(PackageId id) {
  PackageData& package = packages_[id];
  const PackageId generator = packages_.Find(GeneratorName(package.name));
  WantAgain(generator, id, package.cooks);
  if (package.generated != nullptr) {
    package.work->waits_for_generator = false;
    graph_.lifecycle().Refresh(id);
    graph_.Push({AgendaItem::Kind::kBegin, id});
  } else if (deps_.waits.IsOver(generator)) {
    Unlisted(id, generator);
  } else {
    deps_.waits.AddWaiter(generator, id);
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
    const Waits::Availability availability = deps_.waits.AvailabilityOf(wait.on, wait.platform);
    if (availability == Waits::Availability::kPending) {
      package.work->waits.push_back(wait);
      deps_.waits.AddWaiter(wait.on, id);
    } else if (availability == Waits::Availability::kNone && wait.is_certain) {
      deps_.package_progress.FailPlatforms(id, MaskOf(wait.platform), Stage::kLoad,
                                           deps_.waits.WhyNone(wait.on, package.cooks), "");
    } else if (availability == Waits::Availability::kNone) {
      missed |= MaskOf(wait.platform);
    }
  }
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (missed & MaskOf(p)) deps_.waits.MissInstead(id, p);
    if (package.slots[p].phase != Phase::kWaiting) continue;
    const std::vector<Wait>& left = package.work->waits;
    const bool waits_on = std::ranges::any_of(
        left, [&](const Wait& wait) { return !wait.is_certain && wait.platform == p; });
    if (!waits_on) graph_.lifecycle().SetPhase(id, p, Phase::kToLookUp);
  }
  deps_.package_progress.Advance(id);
}

void WaitEvaluation::WaitForGenerator(PackageId id, PackageId generator) {
  packages_[id].work->waits_for_generator = true;
  deps_.waits.AddWaiter(generator, id);
  graph_.lifecycle().Refresh(id);
  deps_.wait_cycles.BreakCycles(id);
}

void WaitEvaluation::FailWhereNever(PackageId id, PlatformIndex platform, PackageId input) {
  const CookMask cooks = claimants_.ClaimersOn(id, MaskOf(platform)) & claimants_.masks().active;
  claimants_.ForEachOf(claimants_.NeverIn(input, cooks), [&](Claimant& cook) {
    deps_.cook_only_failures.FailForInput(cook, id, MaskOf(platform),
                                          deps_.waits.WhyNone(input, cook.bit()));
  });
}

// True: some package waits for the list that the package would give.
bool WaitEvaluation::IsListAwaited(PackageId id) const {
  return std::ranges::any_of(packages_[id].work->waiters, [&](PackageId waiter) {
    const Work* const work = packages_[waiter].work.get();
    return work != nullptr && work->waits_for_generator &&
           GeneratorName(packages_.NameOf(waiter)) == packages_.NameOf(id);
  });
}

// The package's generator is over and does not list the package. A package whose list is awaited
// fails: if it left, the packages that wait would bring it in again and again. A reference to the
// package is judged at the end.
void WaitEvaluation::Unlisted(PackageId id, PackageId generator) {
  PackageData& package = packages_[id];
  // A cook that has come since wants the generator, too, which may be tried again for the cook.
  const CookMask fresh = package.cooks & claimants_.masks().active & ~packages_[generator].cooks &
                         ~package.asked_generator;
  package.asked_generator |= fresh;
  if (fresh != 0) deps_.claims.Join(generator, InstigatorCategory::kBuildDependency, id, fresh);
  if (!deps_.waits.IsOver(generator)) return WaitForGenerator(id, generator);
  package.work->waits_for_generator = false;
  const PackageData& from = packages_[generator];
  const bool has_failed =
      from.is_skipped || (from.outcome == Outcome::kFailed && !from.is_listing_final);
  const CookMask active = package.cooks & claimants_.masks().active;
  // In a cook for which its generator was not tried, the package is missing as if the generator
  // listed others.
  const CookMask skipping = has_failed ? active & from.cooks : 0;
  const CookMask lacking = active & ~skipping;
  const bool is_needed = package.is_cooked_input || IsListAwaited(id);
  const CookMask failing = is_needed ? lacking : lacking & package.selected_by;
  const std::string text = UnlistedText(from.name);
  if (skipping == 0 && failing == 0) return deps_.claims.Leave(id, "not generated");
  deps_.claims.Unclaim(id, lacking & ~failing);
  if (skipping == 0) return deps_.package_progress.FailPackage(id, Stage::kRequest, text);
  deps_.claims.TellLeft(id,
                        skipping);  // it may have failed before, when its generator listed others
  claimants_.ForEachOf(failing, [&](Claimant& cook) {
    deps_.cook_only_failures.Fail(cook, id, ~PlatformMask{0}, Stage::kRequest, text);
  });
  deps_.claims.Skip(id);
}

}  // namespace galley::director
