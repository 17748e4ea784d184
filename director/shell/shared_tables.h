// SharedTables: the state that the owners of cooks and the owners of workers share: the workers,
// their attempts, and the results of workers and of look-ups.
//
// Threads: any.
#pragma once

#include <string>

#include "director/shell/attached_workers.h"
#include "director/shell/clock_offsets.h"
#include "director/shell/collection_counts.h"
#include "director/shell/report_reader.h"
#include "director/shell/result_table.h"
#include "director/shell/shell_options.h"
#include "director/shell/sources.h"
#include "director/shell/stored_reads.h"
#include "director/shell/worker_views.h"

namespace galley::director {

struct SharedTables {
  SharedTables(const ShellGround& ground, PresentSources sources);

  // Forgets a worker that is gone.
  void ForgetWorker(const std::string& worker);

  ResultTable results{ResultTable::Kept::kWhileHeld};
  AttachedWorkers attached;
  WorkerViews views;
  ClockOffsets clocks;
  CollectionCounts collections;
  StoredReads reads;
  ReportReader reports;
};

}  // namespace galley::director
