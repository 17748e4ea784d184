// ParkedJobs: a package that no worker which can do its kind (Eligibility) can take now is
// *parked*, so that it holds up nothing that others could do. Of each kind one at a time, the
// first, is asked for whether some worker can take it by now.
//
// What launched workers are known to lack, or all refuse, is parked at once, for the helpers
// (fleet.h).
//
// Where no worker of this machine is started, and none of those that are attached can do the kind
// for `unoffered_max`, its packages fail: nobody is to wait for ever. The failure is in no cache.
// What is demanded and no worker has waits as long as a launcher may bring one up that has it.
// Threads: none; owned by Core.
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

  ParkedJobs(const JobGround& ground, PackageProgress& package_progress, HeldResults& held_results,
             Eligibility& eligibility, Reservations& reservations, WorkerChoice& worker_choice,
             Proofs& proofs)
      : JobPart(ground),
        package_progress_(package_progress),
        held_results_(held_results),
        eligibility_(eligibility),
        reservations_(reservations),
        worker_choice_(worker_choice),
        proofs_(proofs) {}

  // A cook begins.
  void BeginCook();
  // False: no worker with room lacks its kind, so that nobody waits in vain behind it; or so many
  // were parked in this step. REQUIRES: WorkerChoice::Place found no worker. O(workers with room)
  // where a worker lacks any.
  bool Park(PackageId package);
  // A step begins: what those elsewhere lack is put aside, as far as it comes first, so that nobody
  // is asked for there on its behalf. Then Unpark.
  void ParkForHelpers();
  // What workers can take now goes back to its queue; what nobody ever could fails.
  void Unpark();
  // The parked packages that workers on other machines cannot cook. O(workers) for each kind of
  // them.
  size_t CountForHelpers() const;
  // The parked packages that demand something which launched workers have.
  size_t CountForFleet() const;
  // The package was found to be cooked. If it demands what the farm's workers do not have, it is
  // parked at once, so that nobody is asked for there on its behalf.
  void ParkBeyondFleet(PackageId package);
  // What a parked package waits for; empty: it is not parked.
  std::string WhyParked(PackageId package) const;

 private:
  bool CannotHaveNow(PackageId package, uint32_t kind, WorkerId worker) const;
  void UnparkOf(uint32_t kind);
  void FailUnoffered(uint32_t kind);

  std::vector<PackageId> beyond_fleet_;  // that went back to their queue in a step
  size_t parked_ = 0;                    // in this step
  absl::btree_map<uint32_t, absl::Duration> unoffered_since_;  // by kind; StepContext::awake

  PackageProgress& package_progress_;
  HeldResults& held_results_;
  Eligibility& eligibility_;
  Reservations& reservations_;
  WorkerChoice& worker_choice_;
  Proofs& proofs_;
};

}  // namespace galley::director
