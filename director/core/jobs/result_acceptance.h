// ResultAcceptance: makes a worker's result the result of its package, and commits it.
// Threads: none; owned by its layer.
#pragma once

#include "director/core/jobs/attempts.h"
#include "director/core/jobs/discovered_references.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/waits.h"
#include "director/core/packages/warnings.h"

namespace galley::director {

class ResultAcceptance : PackagePart {
 public:
  struct Deps {
    Costs& costs;
    Attempts& attempts;
    Waits& waits;
    PendingCommits& commits;
    Warnings& warnings;
    DiscoveredReferences& discovered_references;
  };
  ResultAcceptance(const PackageGround& ground, const Deps& deps)
      : PackagePart(ground), deps_(deps) {}

  struct Source {
    PackageId package;
    PlatformIndex platform = 0;
    WorkerId worker;  // the worker that made the result
    ReportId report = 0;
    AttemptId attempt = 0;
  };
  // The report is acknowledged when the commit is durable. `source.attempt`: the attempt that has
  // just reported this result or, as a proof, an equal one; 0: none.
  void Accept(const Source& source, const WorkerReport::Saved& saved);

 private:
  const Deps deps_;
};

}  // namespace galley::director
