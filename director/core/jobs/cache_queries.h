// CacheQueries: questions to the action cache, in batches, and their answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "director/core/jobs/claims.h"
#include "director/core/jobs/discovered_references.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/jobs/pending_commits.h"
#include "director/core/jobs/wait_cycles.h"
#include "director/core/jobs/wait_evaluation.h"
#include "director/core/packages/costs.h"
#include "director/core/packages/package_part.h"
#include "director/core/packages/waits.h"
#include "director/core/packages/warnings.h"

namespace galley::director {

class CacheQueries : PackagePart {
 public:
  CacheQueries(const PackageGround& ground, Costs& costs, Waits& waits,
               PackageProgress& package_progress, PendingCommits& commits, Warnings& warnings,
               Claims& claims, WaitCycles& wait_cycles, WaitEvaluation& wait_evaluation,
               DiscoveredReferences& discovered_references)
      : PackagePart(ground),
        costs_(costs),
        waits_(waits),
        package_progress_(package_progress),
        commits_(commits),
        warnings_(warnings),
        claims_(claims),
        wait_cycles_(wait_cycles),
        wait_evaluation_(wait_evaluation),
        discovered_references_(discovered_references) {}

  void SendLookUps();
  void OnLookedUp(const LookedUp& event);
  // The question was asked, or the attempt handed over, before the package's inputs changed.
  bool IsOutdated(PackageId package, uint64_t generation) const;
  size_t in_flight() const { return in_flight_; }

 private:
  LookUp::Item QuestionFor(PackageId package);
  void NoteLastRead(PackageId package, const std::vector<uint64_t>& read);
  void OnHit(PackageId package, PlatformIndex platform, const LookedUp::Hit& hit);
  void OnNeedsCooked(PackageId package, PlatformIndex platform, const LookedUp::NeedsCooked& needs);

  size_t in_flight_ = 0;

  Costs& costs_;
  Waits& waits_;
  PackageProgress& package_progress_;
  PendingCommits& commits_;
  Warnings& warnings_;
  Claims& claims_;
  WaitCycles& wait_cycles_;
  WaitEvaluation& wait_evaluation_;
  DiscoveredReferences& discovered_references_;
};

}  // namespace galley::director
