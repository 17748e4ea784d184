#include "director/core/packages/urgencies.h"

#include "absl/container/btree_set.h"

namespace galley::director {

namespace {

constexpr size_t kChainVisitsMax = 10'000;

}  // namespace

std::vector<PackageId> Urgencies::LeadersOf(PackageId id) const {
  std::vector<PackageId> leaders;
  for (const Slot& slot : packages_[id].slots) {
    if (slot.phase != Phase::kFollowing) continue;
    const PackageId leader = graph_.lifecycle().equal_work().LeaderOf(slot.work);
    if (leader.valid()) leaders.push_back(leader);
  }
  return leaders;
}

void Urgencies::RaiseUrgency(PackageId id, Urgency urgency) {
  std::vector<PackageId> raise = {id};
  while (!raise.empty()) {
    const PackageId next = raise.back();
    raise.pop_back();
    PackageData& package = packages_[next];
    if (package.urgency >= urgency) continue;
    graph_.lifecycle().SetUrgency(next, urgency);
    if (package.work == nullptr) continue;
    // The package's worker would begin the package in its turn, as it was given; and no other job
    // that is as urgent would be given there before that.
    if (urgency >= Urgency::kHigh) notes_.urgencies_raised.push_back({next});
    if (urgency == Urgency::kBlocking)
      effects_.is_persist_urgent |= InPhase(packages_[next], Phase::kCommitting) != 0;
    for (const Wait& wait : package.work->waits) raise.push_back(wait.on);
    for (const PackageId leader : LeadersOf(next)) raise.push_back(leader);
    if (package.work->waits_for_generator)
      raise.push_back(packages_.Find(GeneratorName(package.name)));
  }
}

std::vector<PackageId> Urgencies::WithAwaited(const std::vector<PackageId>& packages) const {
  std::vector<PackageId> all;
  absl::btree_set<PackageId> seen;
  const auto add = [&](PackageId id) {
    if (id.valid() && packages_[id].is_in_cook() && seen.insert(id).second) all.push_back(id);
  };
  for (const PackageId id : packages) add(id);
  for (size_t i = 0; i < all.size(); ++i) {
    const PackageData& package = packages_[all[i]];
    if (package.work == nullptr) continue;
    for (const Wait& wait : package.work->waits) add(wait.on);
    for (const PackageId leader : LeadersOf(all[i])) add(leader);
    if (package.work->waits_for_generator) add(packages_.Find(GeneratorName(package.name)));
  }
  return all;
}

void Urgencies::LengthenChain(PackageId id, absl::Duration chain) {
  std::vector<std::pair<PackageId, absl::Duration>> longer = {{id, chain}};
  for (size_t visits = 0; !longer.empty() && visits < kChainVisitsMax; ++visits) {
    const auto [next, length] = longer.back();
    longer.pop_back();
    PackageData& package = packages_[next];
    if (package.work == nullptr || package.work->chain >= length) continue;
    package.work->chain = length;
    graph_.lifecycle().Refresh(next);
    for (const Wait& wait : package.work->waits)
      longer.emplace_back(wait.on, length + package.cost);
    for (const PackageId leader : LeadersOf(next)) longer.emplace_back(leader, length);
  }
}

}  // namespace galley::director
