// The claims of asks, and how urgently cooks and asks together want a package.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/sabotage.h"
#include "director/core/jobs/claims.h"

namespace galley::director {

bool Claims::Ask(PackageId id, PlatformMask platforms, bool is_ahead) {
  // A package that others need may have failed before somebody asks for the package itself.
  const PlatformMask failed = InPhase(packages_[id], Phase::kFailed);
  const PlatformMask fresh = platforms & (~packages_[id].asked | failed);
  const PlatformMask now = is_ahead ? 0 : platforms & ~packages_[id].asked_now;
  if (fresh == 0 && now == 0) return false;
  const bool is_in_turn = IsSabotaged(Sabotage::kAskInTurn);
  const Urgency urgency = is_ahead     ? Urgency::kSpare
                          : is_in_turn ? Urgency::kLow
                                       : Urgency::kBlocking;
  if (fresh != 0) {
    Claim(id, 0, {.all = fresh, .now = now}, urgency);
  } else {
    Lift(id, now, urgency);
  }
  deps_.urgencies.RaiseUrgency(id, urgency);
  return fresh != 0;
}

// Somebody waits for what was asked for ahead of need until now; what the package needs follows.
void Claims::Lift(PackageId id, PlatformMask now, Urgency urgency) {
  packages_[id].asked_now |= now;
  DisplaceAhead(id, 0);
  deps_.urgencies.RaiseUrgency(id, urgency);
  graph_.Push({AgendaItem::Kind::kSpread, id});
}

// `joining`: cooks that are about to want the package.
void Claims::DisplaceAhead(PackageId id, CookMask joining) {
  const PackageData& package = packages_[id];
  const PlatformMask others = WantedByOthers(claimants_, package, joining);
  if (others == 0 || (package.asked & ~others) == 0) return;
  notes_.ahead_displaced.push_back({id});
  if (package.urgency != Urgency::kSpare || package.work == nullptr || package.work->attempt == 0)
    return;
  const auto ended = static_cast<uint32_t>(deps_.attempts.At(id).size());
  counts_.figures.ahead_killed += ended;
  package.work->attempts -= ended;  // they do not count (workers/spare_jobs.h)
  deps_.attempts.EndAttempts(id);
  deps_.package_progress.Advance(id);
}

void Claims::Unask(PackageId id, const Asked& asked) {
  PackageData& package = packages_[id];
  // A package that needs this one may be asked for on platforms on which it has not brought this
  // one yet.
  const PlatformMask left = asked.all & package.asked;
  package.asked_now &= asked.now;
  const PlatformMask lost = package.asked & ~left;
  if (lost == 0 && (left != 0 || (package.cooks & kAsksBit) == 0)) return;
  package.asked = left;
  if (left == 0) {
    if ((package.cooks & kCooksBits) == 0) {
      Leave(id, "nobody asks for it any more");
      return Forget(id);
    }
    graph_.lifecycle().Unclaim(id, kAsksBit);
  }
  if (claimants_.UnsettledOf(id) == 0) return deps_.package_progress.GiveUp(id);
  PlatformMask unwanted = 0;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    if ((lost & MaskOf(p)) != 0 && claimants_.ClaimersOn(id, MaskOf(p)) == 0) unwanted |= MaskOf(p);
  }
  graph_.lifecycle().Unwant(id, unwanted);
  LowerUrgency(id);
  deps_.package_progress.Advance(id);
}

// Asks alone do not try a package again that used up its attempts.
bool Claims::IsKept(PackageId id, PlatformMask failed, CookMask cooks) {
  if (cooks != kAsksBit) return false;
  const PackageFailed* const kept = deps_.kept_failures.Find(packages_.NameOf(id), step_.now);
  if (kept == nullptr) return false;
  AskSettled note{.package = id, .platforms = failed, .failed = *kept};
  note.failed->package = id;
  notes_.asks_settled.push_back(std::move(note));
  return true;
}

// For asks the package fails if it leaves.
void Claims::TellAsksLeft(PackageId id, std::string_view reason) {
  const PlatformMask asked = std::exchange(packages_[id].asked, 0);
  packages_[id].asked_now = 0;
  if (asked == 0) return;
  notes_.asks_settled.push_back({id, asked,
                                 PackageFailed{.package = id,
                                               .platform = std::nullopt,
                                               .stage = Stage::kRequest,
                                               .error = std::string(reason)}});
}

// How urgently these cooks, and the asks, want the package.
Urgency Claims::UrgencyFor(PackageId id, CookMask cooks, InstigatorCategory category) const {
  const PackageData& package = packages_[id];
  if (package.asked_now != 0)
    return IsSabotaged(Sabotage::kAskInTurn) ? Urgency::kLow : Urgency::kBlocking;
  if ((cooks & kCooksBits) == 0 && package.asked != 0) return Urgency::kSpare;
  return claimants_.UrgencyOf(cooks & kCooksBits, category);
}

// The remaining cooks may be less urgent. A package is as urgent as the most urgent of those that
// wait for its results or follow its equal work.
void Claims::LowerUrgency(PackageId id) {
  DisplaceAhead(id, 0);
  const PackageData& package = packages_[id];
  const CookMask left = package.cooks & claimants_.masks().active;
  Urgency urgency =
      UrgencyFor(id, left,
                 (package.selected_by & left) != 0 ? InstigatorCategory::kCommandLinePackage
                                                   : InstigatorCategory::kHardDependency);
  if (package.work != nullptr) {
    for (const PackageId waiter : package.work->waiters)
      urgency = std::max(urgency, packages_[waiter].urgency);
  }
  for (const Slot& slot : package.slots) {
    if (!slot.is_leading) continue;
    graph_.lifecycle().equal_work().ForEachFollower(
        slot.work, [&](const EqualWork::Follower& follower) {
          const PackageData& other = packages_[follower.package];
          if (follower.platform < other.slots.size() &&
              other.slots[follower.platform].phase == Phase::kFollowing &&
              other.slots[follower.platform].work == slot.work)
            urgency = std::max(urgency, other.urgency);
        });
  }
  if (urgency < package.urgency) graph_.lifecycle().SetUrgency(id, urgency);
}

// A package waits for another one, which is as urgent: the order of the packages does not matter.
void Claims::LowerUrgencies(const std::vector<PackageId>& some) {
  const std::vector<PackageId> packages = deps_.urgencies.WithAwaited(some);
  for (bool is_lower = true; is_lower;) {
    is_lower = false;
    for (const PackageId id : packages) {
      if (!packages_[id].is_in_cook()) continue;
      const Urgency before = packages_[id].urgency;
      LowerUrgency(id);
      is_lower |= packages_[id].urgency < before;
    }
  }
}

}  // namespace galley::director
