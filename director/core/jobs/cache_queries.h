// CacheQueries: sends look-ups in batches, and applies their answers.
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
  struct Deps {
    Costs& costs;
    Waits& waits;
    PackageProgress& package_progress;
    PendingCommits& commits;
    Warnings& warnings;
    Claims& claims;
    WaitCycles& wait_cycles;
    WaitEvaluation& wait_evaluation;
    DiscoveredReferences& discovered_references;
  };
  CacheQueries(const PackageGround& ground, const Deps& deps) : PackagePart(ground), deps_(deps) {}

  void SendLookUps();
  void OnLookedUp(const LookedUp& event);
  // True: the look-up of this generation is void, since something of the package has changed.
  bool IsOutdated(PackageId package, uint64_t generation) const;
  size_t in_flight() const { return in_flight_; }

 private:
  bool IsAnyToRunAlone() const;
  LookUp::Item QuestionFor(PackageId package);
  void NoteLastRead(PackageId package, const std::vector<uint64_t>& read);
  void OnHit(PackageId package, PlatformIndex platform, const LookedUp::Hit& hit);
  void OnNeedsCooked(PackageId package, PlatformIndex platform, const LookedUp::NeedsCooked& needs);

  size_t in_flight_ = 0;

  const Deps deps_;
};

}  // namespace galley::director
