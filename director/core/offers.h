// Offers: which workers can do which jobs. A worker of another build, or on a machine without the
// project, lacks some cookers. A package that no worker which has its cooker can take now is
// *parked*, so that it holds up nothing that others could do; one of each cooker at a time, the
// first, is asked for whether some worker can take it by now.
//
// What launched workers are known to lack is parked at once, for the helpers (fleet.h).
//
// Where no worker of this machine is started, and none of those that are attached has the cooker
// for `unoffered_max`, its packages fail: nobody is to wait for ever. The failure is in no cache.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "director/core/part.h"
#include "director/core/workers.h"

namespace galley::director {

class Offers : Part {
 public:
  static constexpr size_t kParkedMax = 16'384;  // in a step
  static constexpr size_t kUnparkedMax = 64;    // in a step, of a cooker
  static constexpr size_t kFailedMax = 256;     // likewise

  explicit Offers(Core& core) : Part(core) {}

  void SetLacks(WorkerId worker, const std::vector<std::string>& cookers);
  bool Has(const Worker& worker, PackageId package) const;
  // False: no worker with room lacks its cooker, so that nobody waits in vain behind it; or so many
  // were parked in this step. REQUIRES: Placing::Place found no worker. O(workers with room) where
  // a worker lacks any.
  bool Park(PackageId package);
  // A step begins: what those elsewhere lack is put aside, as far as it comes first, so that nobody
  // is asked for there on its behalf. Then Unpark.
  void ParkForHelpers();
  // What workers can take now goes back to its queue; what nobody ever could fails.
  void Unpark();
  // The parked packages that workers on other machines cannot cook. O(workers) for each cooker of
  // them.
  size_t CountForHelpers() const;

 private:
  bool HasAttached(uint32_t cooker) const;
  bool FleetLacks(uint32_t cooker) const;
  bool IsOffered(uint32_t cooker) const;
  void UnparkOf(uint32_t cooker);
  void FailUnoffered(uint32_t cooker);

  bool has_lacking_ = false;               // some worker lacks something, or did
  size_t parked_ = 0;                      // in this step
  absl::btree_set<uint32_t> fleet_lacks_;  // that the launched worker lacks which came last
  absl::btree_map<uint32_t, absl::Duration> unoffered_since_;  // by cooker; Core::awake
};

}  // namespace galley::director
