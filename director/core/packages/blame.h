// Blame: how often a package's attempts ended without a result, and through whose fault.
//
// Own faults (its executor crashed, outgrew its memory or its time) are few before the package is
// quarantined, until the cook ends or its inputs change; faults of the infrastructure
// (I/O, lost workers) are many, with a back-off that doubles.
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
  // Returns how many own faults the package has now. While workers on other machines are expected,
  // and for at most kOthersMax after the first fault, all faults on one machine count as one: the
  // machine may be at fault, and no other machine was there to try.
  static constexpr absl::Duration kOthersMax = absl::Minutes(1);
  // The package goes to other machines first, since all workers of one machine may be as bad. The
  // director's own machine is not avoided.
  uint32_t AddOwnFault(PackageId package, const OwnFault& fault);
  uint32_t AddInfrastructureFault(PackageId package);
  // The package failed on this machine (MachineTable::NumberOf) for the machine's sake: the package
  // goes to other machines first. True: the package had not failed on this machine before.
  bool AddMachine(PackageId package, uint32_t machine);
  bool HasFailedAt(PackageId package, uint32_t machine) const;
  bool HasMachines(PackageId package) const;
  // Says that the fault that was added last was a limit, for which the package's last attempt runs
  // alone (exclusive_run.h).
  void AddLimit(PackageId package) { ++faults_[package].limits; }
  // Faults that an earlier director counted; the workers on which they happened are not known any
  // more. Each cook that goes on is told of the same faults.
  void AddEarlierFaults(PackageId package, uint32_t count);
  // The workers on which the package failed through its own fault, each once, in order. The package
  // goes to other workers while there are some.
  const std::vector<WorkerId>& WorkersOf(PackageId package) const;
  bool HasFailedOn(PackageId package, WorkerId worker) const;
  struct Faults {
    uint32_t own = 0;
    uint32_t limits = 0;  // faults among `own` that were limits (AddLimit)
    uint32_t infrastructure = 0;
    std::vector<WorkerId> workers;
    std::vector<uint32_t> machines;      // on which the package failed, each once, in order
    std::vector<uint32_t> own_machines;  // on which the `own` faults happened
    absl::Duration first_own_at;
  };
  // The package goes to other workers while there are some, as if it had failed there.
  void Avoid(PackageId package, WorkerId worker);
  Faults Of(PackageId package) const;
  // The package fails once it turns out that it must be cooked, with these faults.
  void Quarantine(PackageId package, CookRequested::Blamed faults) {
    quarantined_.insert_or_assign(package, std::move(faults));
  }
  // nullptr: the package may be tried (again).
  const CookRequested::Blamed* Quarantined(PackageId package) const {
    const auto found = quarantined_.find(package);
    return found == quarantined_.end() ? nullptr : &found->second;
  }
  // The package may be tried again: its inputs may have been mended.
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
