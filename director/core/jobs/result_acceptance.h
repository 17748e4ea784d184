// ResultAcceptance: a result is what a package comes to.
// Threads: none; owned by Core.
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
  ResultAcceptance(const PackageGround& ground, Costs& costs, Attempts& attempts, Waits& waits,
                   PendingCommits& commits, Warnings& warnings,
                   DiscoveredReferences& discovered_references)
      : PackagePart(ground),
        costs_(costs),
        attempts_(attempts),
        waits_(waits),
        commits_(commits),
        warnings_(warnings),
        discovered_references_(discovered_references) {}

  struct Source {
    PackageId package;
    PlatformIndex platform = 0;
    WorkerId worker;  // that made it
    ReportId report = 0;
    AttemptId attempt = 0;
  };
  // The result is committed, and acknowledged then. `source.attempt`: the one that has just
  // reported it, or that agrees with it; 0: none.
  void Accept(const Source& source, const WorkerReport::Saved& saved);

 private:
  Costs& costs_;
  Attempts& attempts_;
  Waits& waits_;
  PendingCommits& commits_;
  Warnings& warnings_;
  DiscoveredReferences& discovered_references_;
};

}  // namespace galley::director
