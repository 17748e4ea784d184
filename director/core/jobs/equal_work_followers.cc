#include "director/core/jobs/equal_work_followers.h"

#include <algorithm>

#include "common/base/sabotage.h"

namespace galley::director {
// Platforms that are to be cooked follow equal work that another package leads. A platform that was
// looked up before equal work had a result is looked up once more. A package that a worker has from
// an earlier director does not follow: its attempt is taken up when the package comes to be handed
// over.
void EqualWorkFollowers::FollowEqualWork(PackageId id) {
  PackageData& package = packages_[id];
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    Slot& slot = package.slots[p];
    const bool may_follow = slot.phase == Phase::kToCook && slot.work != 0 && !slot.is_leading &&
                            !slot.has_followed && !resumed_attempts_.Has(id);
    if (!may_follow) continue;
    EqualWork& equal_work = graph_.lifecycle().equal_work();
    if (equal_work.HasResultSince(slot.work, slot.asked)) {
      slot.has_followed = true;
      graph_.lifecycle().SetPhase(id, p, Phase::kToLookUp);
      continue;
    }
    const PackageId leader = equal_work.LeaderOf(slot.work);
    if (!leader.valid() || leader == id) continue;
    graph_.lifecycle().SetPhase(id, p, Phase::kFollowing);
    equal_work.Follow({id, p, slot.work});
    urgencies_.RaiseUrgency(leader, package.urgency);
    urgencies_.LengthenChain(leader, package.work->chain);
  }
}

// The package is ready, and leads where no other package leads. A package that backs off goes on
// leading, but does not begin to lead: others need not wait for its back-off.
void EqualWorkFollowers::LeadEqualWork(PackageId id) {
  const PackageData& package = packages_[id];
  if (package.work->not_before > step_.now) return;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const Slot& slot = package.slots[p];
    if (slot.phase != Phase::kToCook || slot.work == 0 || slot.is_leading) continue;
    const PackageId leader = graph_.lifecycle().equal_work().LeaderOf(slot.work);
    if (!leader.valid() || leader == id) graph_.lifecycle().Lead(id, p);
  }
}

// The package's cook asked for a cooked input. Platforms with equal work are looked up again: equal
// work may have a result once the input is there, or another package may lead. A platform that
// leads goes on if it need not wait for the input.
void EqualWorkFollowers::LookUpWithInputs(PackageId id) {
  PackageData& package = packages_[id];
  if (package.work == nullptr) return;
  const bool is_blocked = IsBlocked(*package.work);
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    Slot& slot = package.slots[p];
    const bool has_equal =
        slot.has_followed || graph_.lifecycle().equal_work().IsFollowed(slot.work);
    if (slot.phase != Phase::kToCook || !has_equal || (slot.is_leading && !is_blocked)) continue;
    slot.has_followed = false;
    graph_.lifecycle().SetPhase(id, p, Phase::kToLookUp);
  }
}

// True: some package or person waits for the package's result. Followers lend their leader the
// chain of the packages that wait for them.
bool EqualWorkFollowers::IsAwaited(PackageId id) const {
  const PackageData& package = packages_[id];
  if (package.urgency == Urgency::kBlocking) return true;
  if (package.work == nullptr) return false;
  if (!package.work->waiters.empty()) return true;
  const bool is_followed = std::ranges::any_of(package.slots, [&](const Slot& slot) {
    return slot.is_leading && graph_.lifecycle().equal_work().IsFollowed(slot.work);
  });
  return is_followed && package.work->chain > absl::ZeroDuration();
}

}  // namespace galley::director
