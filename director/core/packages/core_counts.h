// CoreCounts: the counts over all cooks, for metrics.
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>

#include "director/core/core_figures.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_data.h"
#include "director/core/pools.h"

namespace galley::director {

struct CoreCounts {
  // The counts of the package's cooker.
  CookerFigures& CookerOf(const PackageData& package) {
    const uint32_t cooker = package.cost_traits.cooker;
    while (figures.cookers.size() <= cooker)
      figures.cookers.push_back(
          {.name = costs.NameOf(static_cast<uint32_t>(figures.cookers.size()))});
    return figures.cookers[cooker];
  }

  PoolFigures& Of(Pool pool) { return figures.pools[static_cast<size_t>(pool)]; }

  const Costs& costs;
  CoreFigures figures = {};  // `cookers` by CostTraits::cooker; only the counts are used
};

}  // namespace galley::director
