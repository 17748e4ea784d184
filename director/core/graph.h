// Graph: the packages that some cook wants, and all that is known of them together: why they are
// wanted, what they depend on, how far they are, who is to blame.
//
// A Graph is constructed when a cook begins while no other runs, and answers questions until that
// happens again. How cooks end is no matter of it (Cook).
// Threads: none; owned by Cooks.
#pragma once

#include "director/core/agenda.h"
#include "director/core/aloneness.h"
#include "director/core/blame.h"
#include "director/core/changes.h"
#include "director/core/claims.h"
#include "director/core/culprits.h"
#include "director/core/edges.h"
#include "director/core/faults.h"
#include "director/core/large_jobs.h"
#include "director/core/lifecycle.h"
#include "director/core/ranks.h"

namespace galley::director {

class Graph {
 public:
  // REQUIRES: no package is in the works.
  explicit Graph(Core& core);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // An item for the agenda, by the package's urgency. It counts for the cooks that want the
  // package.
  void Push(const AgendaItem& item);
  // REQUIRES: the agenda is not empty.
  AgendaItem Pop();
  void ClearAgenda();

  Edges edges;
  Ranks ranks;
  Lifecycle lifecycle;
  Agenda agenda;
  Blame blame;
  Claims claims;
  Faults faults;
  Culprits culprits;
  Changes changes;
  Aloneness aloneness;
  LargeJobs large_jobs;

 private:
  PackageTable& packages_;
};

}  // namespace galley::director
