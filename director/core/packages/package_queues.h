// PackageQueues: the queues in which packages wait to be looked up, to be handed over, for a grant
// of resources, for an eligible worker (*parked*), or for the end of their back-off.
//
// State and Work decide in which queues a package is. Refresh moves the package there; Lifecycle
// calls Refresh after each change.
// Cost: O(log n).
// Threads: none; owned by Lifecycle.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "director/core/packages/load_queue.h"
#include "director/core/packages/package_data.h"
#include "director/core/packages/ranks.h"
#include "director/core/packages/ready_line.h"
#include "director/core/packages/request_queue.h"
#include "director/core/packages/save_queue.h"

namespace galley::director {

class PackageQueues {
 public:
  // `now`: the time of the present step.
  PackageQueues(PackageTable& packages, Ranks& ranks, const absl::Time& now)
      : packages_(packages), ranks_(ranks), now_(now) {}

  // Puts the package into the queues where it belongs, at its place.
  void Refresh(PackageId package);
  // Takes the package out of the queues of jobs to be handed over, until the next Refresh.
  void SetAside(PackageId package);
  // The package waits only in the parking queue `queue` (Lifecycle::Park). The caller calls
  // Refresh.
  void Park(PackageId package, uint32_t queue);
  // REQUIRES: the package is parked. The caller calls Refresh.
  void LeaveParking(PackageId package);
  // The package is not handed over before `until`. The caller calls Refresh.
  void BackOff(PackageId package, absl::Time until);
  // Ends the back-off of a package whose back-off is over by `now`, and returns the package;
  // invalid: none. The caller calls Refresh.
  PackageId TakeReleased(absl::Time now);
  // Takes the package out of the back-off and parking queues. REQUIRES: its work is about to be
  // freed.
  void Leave(PackageId package);

  const RequestQueue& requests() const { return requests_; }
  const LoadQueue& loads() const { return loads_; }
  const SaveQueue& saves() const { return saves_; }
  // By parking queue, each in the order of LoadQueue; none is empty.
  const absl::btree_map<uint32_t, LoadQueue>& parked() const { return parked_; }
  // True: a package that is not spare is backing off, or is parked. O(spare packages there).
  bool HasWantedBackingOff() const;
  bool HasWantedParked() const;
  // Since when the package of loads() waits that has waited longest; nullopt: none waits. Spare
  // packages do not count.
  std::optional<absl::Time> ReadySince();
  // CHECKs the invariants over all packages.
  void CheckInvariants() const;

 private:
  static bool WantsLookUp(const PackageData& package);
  LoadOrder OrderOf(PackageId package) const;
  void StandInLine(PackageId package);
  bool StandsInLine(const ReadyPlace& place) const;

  PackageTable& packages_;
  Ranks& ranks_;
  const absl::Time& now_;
  RequestQueue requests_;
  LoadQueue loads_;
  ReadyLine line_;  // of loads_
  SaveQueue saves_;
  absl::btree_set<std::pair<absl::Time, PackageId>> backing_off_;
  absl::btree_map<uint32_t, LoadQueue> parked_;
};

// True: the package waits for an output that a worker's cook asked for.
bool WaitsForOutput(const Work& work);
// True: the package is neither looked up nor cooked for now, since it waits for its generator's
// list, a scan, or an output that a worker's cook asked for.
bool IsBlocked(const Work& work);

}  // namespace galley::director
