#include "director/core/graph.h"

#include "director/core/core.h"

namespace galley::director {

Graph::Graph(Core& core)
    : ranks(edges, core.options.rank_visits_max),
      lifecycle(core.packages, ranks, core.cooks, core.now),
      claims(core),
      faults(core),
      changes(core),
      aloneness(core),
      large_jobs(core) {
  for (uint32_t i = 0; i < core.packages.size(); ++i) core.packages[PackageId(i)].BeginCook();
  edges.Grow(core.packages.size());
  ranks.Grow(core.packages.size());
}

}  // namespace galley::director
