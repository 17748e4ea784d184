#include "director/core/jobs/wait_cycles.h"

#include <algorithm>

namespace galley::director {

bool WaitCycles::AddWait(PackageId id, const Wait& wait) {
  PackageData& package = packages_[id];
  waits_.NoteInput(id, wait.on);
  if (waits_.AvailabilityOf(wait.on, wait.platform) != Waits::Availability::kPending) return true;
  package.work->waits.push_back(wait);
  waits_.AddWaiter(wait.on, id);
  urgencies_.LengthenChain(wait.on, package.cost + package.work->chain);
  if (!BreakCycles(id)) return false;
  if (wait.is_certain) graph_.BindRanks(id, wait.on, InstigatorCategory::kBuildDependency);
  return true;
}

// True: `id` is on no cycle of waits. A cycle of certain waits fails all packages on it. Any other
// cycle is broken where a look-up waits.
bool WaitCycles::BreakCycles(PackageId id) {
  if (std::vector<PackageId> cycle = waits_.ShortestCycle(id, true); !cycle.empty()) {
    // The text is the same whichever package closed the cycle.
    const auto by_name = [&](PackageId a, PackageId b) {
      return packages_.NameOf(a) < packages_.NameOf(b);
    };
    std::rotate(cycle.begin(), std::ranges::min_element(cycle, by_name), cycle.end());
    const bool has_generator = std::ranges::any_of(
        cycle, [&](PackageId package) { return packages_[package].work->waits_for_generator; });
    std::string text = has_generator ? "cycle of generators: " : "cycle of cooked inputs: ";
    for (const PackageId package : cycle) text += packages_.NameOf(package) + " -> ";
    text += packages_.NameOf(cycle.front());
    for (const PackageId package : cycle)
      package_progress_.FailPackage(package, Stage::kLoad, text);
    return false;
  }
  bool is_free = true;
  for (auto cycle = waits_.ShortestCycle(id, false); !cycle.empty();
       cycle = waits_.ShortestCycle(id, false)) {
    for (size_t i = 0; i < cycle.size(); ++i) {
      const PackageId next = cycle[(i + 1) % cycle.size()];
      const std::vector<Wait> waits = packages_[cycle[i]].work->waits;
      for (const Wait& wait : waits) {
        if (wait.is_certain || wait.on != next) continue;
        waits_.MissInstead(cycle[i], wait.platform);
        is_free &= cycle[i] != id;
        if (cycle[i] != id) package_progress_.Advance(cycle[i]);
      }
    }
  }
  return is_free;
}

}  // namespace galley::director
