#include "director/core/packages/job_costs.h"

#include <algorithm>

namespace galley::director {

absl::Duration CostOf(const PackageData& package, const Costs& costs) {
  absl::Duration load, saves;
  int known = 0;
  int unknown = 0;
  for (const Slot& slot : package.slots) {
    if (slot.phase != Phase::kToCook) continue;
    const bool is_known = slot.last_save > absl::ZeroDuration();
    (is_known ? known : unknown) += 1;
    saves += slot.last_save;
    load = std::max(load, slot.last_load);  // done once for all
  }
  if (known == 0) return costs.Guess(package.cost_traits);
  return load + saves + saves / known * unknown;
}

uint64_t MemoryOf(const PackageData& package, const Costs& costs) {
  const Work& work = *package.work;
  uint64_t bytes = work.memory_last;
  if (bytes == 0) bytes = costs.GuessMemory(package.cost_traits);
  return bytes == 0 || work.memory_max == 0 ? std::max(bytes, work.memory_max)
                                            : std::min(bytes, work.memory_max);
}

}  // namespace galley::director
