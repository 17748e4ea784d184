// ParkedJobs: a package is *parked* when no worker that can do its kind (Eligibility) can take it
// now, so that it does not hold up jobs that other workers can do. In each step, only the first
// parked package of each kind is tried again.
//
// A package whose kind launched workers cannot do is parked at once, for the helpers (fleet.h).
//
// So that no package waits for ever, the packages of a kind fail when for `unoffered_max` no worker
// could do the kind (Eligibility::IsOffered). The failure is not kept. A package with a demand
// waits as long as a launcher may start a worker that meets it.
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
  // Parks the package. False: it is not parked, since no worker with room is held up by it, or
  // since kParkedMax packages were parked in this step. REQUIRES: WorkerChoice::Place found no
  // worker. O(workers with room) if any worker lacks any kind.
  bool Park(PackageId package);
  // Runs before a step asks for workers: parks packages at the head of the queue that launched
  // workers cannot cook, so that no launched worker is asked for because of them. Then call Unpark.
  void ParkForHelpers();
  // Packages that workers can take now go back to their queue. Packages that no worker could take
  // for too long fail.
  void Unpark();
  // The number of parked packages that workers on other machines cannot cook. O(workers) for each
  // kind of such packages.
  size_t CountForHelpers() const;
  // The number of parked packages with a demand that launched workers meet.
  size_t CountForFleet() const;
  // The package must be cooked. If launched workers do not meet its demand, it is parked at once,
  // so that none is asked for because of it.
  void ParkBeyondFleet(PackageId package);
  // Why the package is parked, for people; empty: the package is not parked.
  std::string WhyParked(PackageId package) const;

 private:
  bool CannotHaveNow(PackageId package, uint32_t kind, WorkerId worker) const;
  void UnparkOf(uint32_t kind);
  void FailUnoffered(uint32_t kind);

  std::vector<PackageId> beyond_fleet_;                        // packages unparked in the last step
  size_t parked_ = 0;                                          // in this step
  absl::btree_map<uint32_t, absl::Duration> unoffered_since_;  // by kind; StepContext::awake

  const Deps deps_;
};

}  // namespace galley::director
