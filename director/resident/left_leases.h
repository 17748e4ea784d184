// LeftLeases: what a director that ended left for devices: leases of the newest roots of its trees
// and of the roots of its sessions, each with the world that its root names.
//
// Cost: two blobs are read for each root; many sessions mostly look at few roots.
// Threads: any; blocks.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "common/store/interface/store.h"
#include "director/devices/device_world.h"
#include "director/devices/wanted_leases.h"

namespace galley::director {

struct LeftLease {
  store::RootLease lease;
  devices::LeaseOwner owner;
  devices::DeviceWorld world;  // of the lease's root
};

struct LeftLeases {
  std::vector<LeftLease> readable;
  // Every lease of the project. Those that are not in `readable` are given up: their roots are
  // damaged, or are no roots of sessions.
  std::vector<store::RootLease> all;
};

// UNAVAILABLE: the store does not answer; ask again. CANCELLED: `stop`. Others: the store's.
absl::StatusOr<LeftLeases> ReadLeftLeases(store::Store& store, const std::string& project_id,
                                          const Cancellation& stop);

}  // namespace galley::director
