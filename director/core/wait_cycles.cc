#include "director/core/wait_cycles.h"

#include <algorithm>

#include "director/core/core.h"

namespace galley::director {

bool WaitCycles::AddWait(PackageId id, const Wait& wait) {
  PackageData& package = packages_[id];
  core_.waits.NoteInput(id, wait.on);
  if (core_.waits.AvailabilityOf(wait.on, wait.platform) != Waits::Availability::kPending)
    return true;
  package.work->waits.push_back(wait);
  core_.waits.AddWaiter(wait.on, id);
  core_.urgencies.LengthenChain(wait.on, package.cost + package.work->chain);
  if (!BreakCycles(id)) return false;
  if (wait.is_certain) graph_.BindRanks(id, wait.on, InstigatorCategory::kBuildDependency);
  return true;
}

// True: `id` is on no cycle of waits. A cycle of certain waits fails all packages on it. Any other
// cycle is broken where a look-up waits.
bool WaitCycles::BreakCycles(PackageId id) {
  if (std::vector<PackageId> cycle = core_.waits.ShortestCycle(id, true); !cycle.empty()) {
    // The text is the same whichever package closed the cycle.
    const auto by_name = [&](PackageId a, PackageId b) { return NameOf(a) < NameOf(b); };
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end(), by_name), cycle.end());
    const bool has_generator = std::any_of(cycle.begin(), cycle.end(), [&](PackageId package) {
      return packages_[package].work->waits_for_generator;
    });
    std::string text = has_generator ? "cycle of generators: " : "cycle of cooked inputs: ";
    for (const PackageId package : cycle) text += NameOf(package) + " -> ";
    text += NameOf(cycle.front());
    for (const PackageId package : cycle) core_.advancing.FailPackage(package, Stage::kLoad, text);
    return false;
  }
  bool is_free = true;
  for (auto cycle = core_.waits.ShortestCycle(id, false); !cycle.empty();
       cycle = core_.waits.ShortestCycle(id, false)) {
    for (size_t i = 0; i < cycle.size(); ++i) {
      const PackageId next = cycle[(i + 1) % cycle.size()];
      const std::vector<Wait> waits = packages_[cycle[i]].work->waits;
      for (const Wait& wait : waits) {
        if (wait.is_certain || wait.on != next) continue;
        core_.waits.MissInstead(cycle[i], wait.platform);
        is_free &= cycle[i] != id;
        if (cycle[i] != id) core_.advancing.Advance(cycle[i]);
      }
    }
  }
  return is_free;
}

}  // namespace galley::director
