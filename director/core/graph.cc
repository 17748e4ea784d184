#include "director/core/graph.h"

#include "director/core/core.h"

namespace galley::director {

Graph::Graph(Core& core)
    : ranks(edges, core.options.rank_visits_max),
      lifecycle(core.packages, ranks, core.cooks, core.now),
      claims(core),
      faults(core),
      culprits(core),
      changes(core),
      aloneness(core),
      large_jobs(core),
      packages_(core.packages) {
  for (uint32_t i = 0; i < core.packages.size(); ++i) core.packages[PackageId(i)].BeginCook();
  edges.Grow(core.packages.size());
  ranks.Grow(core.packages.size());
}

void Graph::Push(const AgendaItem& item) {
  agenda.Push(packages_[item.package].urgency, item);
  lifecycle.CountOnAgenda(item.package, true);
}

AgendaItem Graph::Pop() {
  const AgendaItem item = agenda.Pop();
  lifecycle.CountOnAgenda(item.package, false);
  return item;
}

void Graph::ClearAgenda() {
  while (!agenda.empty()) Pop();
}

}  // namespace galley::director
