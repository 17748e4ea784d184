#include "director/core/waiting.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "director/core/core.h"

namespace galley::director {
// What a package waits for may have been given up when a cook ended.
void Waiting::WantAgain(PackageId on, PackageId waiter, CookMask cooks) {
  std::string error;
  if (!claimants_.IsWanted(on) && core_.waits.CanBeCookedInput(NameOf(on), &error))
    core_.claims.Bring(on, InstigatorCategory::kBuildDependency, waiter, cooks);
}

void Waiting::EvaluateGenerator(PackageId id) {
  PackageData& package = packages_[id];
  const PackageId generator = packages_.Find(GeneratorName(package.name));
  WantAgain(generator, id, package.cooks);
  if (package.generated != nullptr) {
    package.work->waits_for_generator = false;
    lifecycle().Refresh(id);
    graph_.Push({AgendaItem::Kind::kBegin, id});
  } else if (core_.waits.IsOver(generator)) {
    Unlisted(id, generator);
  } else {
    core_.waits.AddWaiter(generator, id);
  }
}

void Waiting::EvaluateWaits(PackageId id) {
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
    const Waits::Availability availability = core_.waits.AvailabilityOf(wait.on, wait.platform);
    if (availability == Waits::Availability::kPending) {
      package.work->waits.push_back(wait);
      core_.waits.AddWaiter(wait.on, id);
    } else if (availability == Waits::Availability::kNone && wait.is_certain) {
      core_.advancing.FailPlatforms(id, MaskOf(wait.platform), Stage::kLoad,
                                    core_.waits.WhyNone(wait.on), "");
    } else if (availability == Waits::Availability::kNone) {
      missed |= MaskOf(wait.platform);
    }
  }
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if (missed & MaskOf(p)) core_.waits.MissInstead(id, p);
    if (package.slots[p].phase != Phase::kWaiting) continue;
    const std::vector<Wait>& left = package.work->waits;
    const bool waits_on = std::any_of(left.begin(), left.end(), [&](const Wait& wait) {
      return !wait.is_certain && wait.platform == p;
    });
    if (!waits_on) lifecycle().SetPhase(id, p, Phase::kToLookUp);
  }
  core_.advancing.Advance(id);
}

void Waiting::WaitForGenerator(PackageId id, PackageId generator) {
  packages_[id].work->waits_for_generator = true;
  core_.waits.AddWaiter(generator, id);
  lifecycle().Refresh(id);
  core_.wait_cycles.BreakCycles(id);
}

// The package's generator is over and does not list it. A reference to it is judged at the end.
void Waiting::Unlisted(PackageId id, PackageId generator) {
  PackageData& package = packages_[id];
  // A cook that has come since wants the generator, too, which may be tried again for it.
  const CookMask fresh =
      package.cooks & claimants_.open() & ~packages_[generator].cooks & ~package.asked_generator;
  package.asked_generator |= fresh;
  if (fresh != 0) core_.claims.Join(generator, InstigatorCategory::kBuildDependency, id, fresh);
  if (!core_.waits.IsOver(generator)) return WaitForGenerator(id, generator);
  package.work->waits_for_generator = false;
  const PackageData& from = packages_[generator];
  const bool has_failed =
      from.is_skipped || (from.outcome == Outcome::kFailed && !from.is_listing_final);
  const CookMask active = package.cooks & claimants_.active();
  // A cook for which its generator was not tried lacks it as one whose generator lists others.
  const CookMask skipping = has_failed ? active & from.cooks : 0;
  const CookMask lacking = active & ~skipping;
  const CookMask failing = package.is_cooked_input ? lacking : lacking & package.selected_by;
  const std::string text =
      from.name + " does not generate it: expected it in the list of packages that its cook gives";
  if (skipping == 0 && failing == 0) return core_.claims.Leave(id, "not generated");
  core_.claims.Unclaim(id, lacking & ~failing);
  if (skipping == 0) return core_.advancing.FailPackage(id, Stage::kRequest, text);
  core_.claims.TellLeft(id,
                        skipping);  // it may have failed before, when its generator listed others
  claimants_.ForEachOf(failing, [&](Claimant& cook) {
    core_.judgements.Fail(cook, id, ~PlatformMask{0}, Stage::kRequest, text);
  });
  core_.claims.Skip(id);
}

}  // namespace galley::director
