// Blame: the faults of each package's attempts: how many, whose, and on which workers and machines.
//
// A package's own faults are crashes of its executor, and outgrown memory and time limits. Faults
// of the infrastructure are I/O errors and lost workers. RetryPolicy says how many are too many.
//
// Cost: O(1); remembers only packages that had a fault.
// Threads: none; owned by Graph.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/packages/killings.h"

namespace galley::director {

class Blame {
 public:
  struct OwnFault {
    WorkerId worker;
    uint32_t machine = 0;              // the worker's (MachineTable::NumberOf)
    bool are_others_expected = false;  // workers on other machines are about to attach
    absl::Duration awake;              // the core's waking time
  };
  // While workers on other machines are expected, and for at most kOthersMax after the first fault,
  // all own faults on one machine count as one: the machine may be to blame, and there was no other
  // machine to try.
  static constexpr absl::Duration kOthersMax = absl::Minutes(1);
  // Returns how many own faults the package has now. The package goes to other machines first,
  // since other workers of the same machine may be as bad; the director's own machine is not
  // avoided.
  uint32_t AddOwnFault(PackageId package, const OwnFault& fault);
  uint32_t AddInfrastructureFault(PackageId package);
  // The package failed on this machine (MachineTable::NumberOf) through the machine's fault, and
  // goes to other machines first. True: the package had not failed on this machine before.
  bool AddMachine(PackageId package, uint32_t machine);
  bool HasFailedAt(PackageId package, uint32_t machine) const;
  bool HasMachines(PackageId package) const;
  // The own fault that was added last was an outgrown limit. After limits only, the package's last
  // attempt runs alone (exclusive_run.h).
  void AddLimit(PackageId package) { ++faults_[package].limits; }
  // Own faults that an earlier director counted; their workers are unknown. Several cooks may
  // report the same faults, so the largest count is kept.
  void AddEarlierFaults(PackageId package, uint32_t count);
  // The workers on which the package failed through its own fault, each once, in order. The package
  // goes to other workers while there are some.
  const std::vector<WorkerId>& WorkersOf(PackageId package) const;
  bool HasFailedOn(PackageId package, WorkerId worker) const;
  struct Faults {
    uint32_t own = 0;
    uint32_t limits = 0;  // how many of `own` were limits (AddLimit)
    uint32_t infrastructure = 0;
    std::vector<WorkerId> workers;
    std::vector<uint32_t> machines;      // on which the package failed, each once, in order
    std::vector<uint32_t> own_machines;  // on which the `own` faults happened
    absl::Duration first_own_at;
  };
  // The package goes to other workers while there are some, as if it had failed on this worker.
  void Avoid(PackageId package, WorkerId worker);
  Faults Of(PackageId package) const;
  // The package fails with these faults as soon as it turns out that it must be cooked.
  void Quarantine(PackageId package, CookRequested::Blamed faults) {
    quarantined_.insert_or_assign(package, std::move(faults));
  }
  // nullptr: the package may be tried (again).
  const CookRequested::Blamed* Quarantined(PackageId package) const {
    const auto found = quarantined_.find(package);
    return found == quarantined_.end() ? nullptr : &found->second;
  }
  // Ends the quarantine of the package: its inputs may have been corrected.
  void Pardon(PackageId package) { quarantined_.erase(package); }
  void PardonAll() { quarantined_.clear(); }
  Killings& killings() { return killings_; }
  const Killings& killings() const { return killings_; }
  void Forget(PackageId package) {
    faults_.erase(package);
    killings_.Forget(package);
  }

 private:
  absl::flat_hash_map<PackageId, Faults> faults_;                      // look-up only
  absl::flat_hash_map<PackageId, CookRequested::Blamed> quarantined_;  // look-up only
  Killings killings_;
};

}  // namespace galley::director
