// ParkedJobs: a package is *parked* when no worker that can do its kind (Eligibility) can take the
// package now, so that it holds up no jobs that other workers could do. For each kind, only the
// first parked package is asked for whether some worker can take it by now.
//
// A package whose kind the launched workers are known to lack, or all refuse, is parked at once,
// for the helpers (fleet.h).
//
// When no worker of this machine is started, and no attached worker can do the kind for
// `unoffered_max`, the kind's packages fail: no package waits for ever. The failure is in no cache.
// A package whose demand no worker meets waits as long as a launcher may bring up a worker that
// meets the demand.
// Threads: none; owned by its layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "director/core/jobs/job_part.h"
#include "director/core/jobs/package_progress.h"
#include "director/core/workers/eligibility.h"
#include "director/core/workers/held_results.h"
#include "director/core/workers/proofs.h"
#include "director/core/workers/reservations.h"
#include "director/core/workers/worker_choice.h"

namespace galley::director {

class ParkedJobs : JobPart {
 public:
  static constexpr size_t kParkedMax = 16'384;  // in a step
  static constexpr size_t kUnparkedMax = 64;    // in a step, of a kind
  static constexpr size_t kFailedMax = 256;     // in a step, of a kind

  struct Deps {
    PackageProgress& package_progress;
    HeldResults& held_results;
    Eligibility& eligibility;
    Reservations& reservations;
    WorkerChoice& worker_choice;
    Proofs& proofs;
  };
  ParkedJobs(const JobGround& ground, const Deps& deps) : JobPart(ground), deps_(deps) {}

  // A cook begins.
  void BeginCook();
  // Parks the package. False: no worker with room lacks its kind, so that no package waits in vain
  // behind it; or kParkedMax packages were parked in this step. REQUIRES: WorkerChoice::Place found
  // no worker. O(workers with room) where a worker lacks any kind.
  bool Park(PackageId package);
  // A step begins: packages that launched workers lack are parked, as far as they come first in the
  // queue, so that no launched worker is asked for on their behalf. Then call Unpark.
  void ParkForHelpers();
  // Packages that workers can take now go back to their queue; packages that no worker ever could
  // take fail.
  void Unpark();
  // The number of parked packages that workers on other machines cannot cook. O(workers) for each
  // kind of such packages.
  size_t CountForHelpers() const;
  // The number of parked packages that demand something which launched workers have.
  size_t CountForFleet() const;
  // The package was found to need a cook. If its demand is beyond the farm's workers, the package
  // is parked at once, so that no launched worker is asked for on its behalf.
  void ParkBeyondFleet(PackageId package);
  // Why the package is parked, for people; empty: the package is not parked.
  std::string WhyParked(PackageId package) const;

 private:
  bool CannotHaveNow(PackageId package, uint32_t kind, WorkerId worker) const;
  void UnparkOf(uint32_t kind);
  void FailUnoffered(uint32_t kind);

  std::vector<PackageId> beyond_fleet_;  // packages that went back to their queue in a step
  size_t parked_ = 0;                    // in this step
  absl::btree_map<uint32_t, absl::Duration> unoffered_since_;  // by kind; StepContext::awake

  const Deps deps_;
};

}  // namespace galley::director
