#include "director/resident/left_leases.h"

#include <map>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "director/resident/tree_build.h"

namespace galley::director {
namespace {

// Reads the world of each root once.
class RootWorlds {
 public:
  explicit RootWorlds(store::Store& store) : store_(store) {}

  const absl::StatusOr<devices::DeviceWorld>& Of(const Digest& root) {
    const auto known = worlds_.find(root);
    if (known != worlds_.end()) return known->second;
    const tree::ReadBlob read = [this](const Digest& digest) { return store_.Get(digest); };
    return worlds_.emplace(root, WorldOfRoot(root, read)).first->second;
  }

 private:
  store::Store& store_;
  std::map<Digest, absl::StatusOr<devices::DeviceWorld>> worlds_;
};

}  // namespace

absl::StatusOr<LeftLeases> ReadLeftLeases(store::Store& store, const std::string& project_id,
                                          const Cancellation& stop) {
  ASSIGN_OR_RETURN(const std::vector<store::RootLease> leases, store.Leases());
  RootWorlds worlds(store);
  LeftLeases left;
  for (const store::RootLease& lease : leases) {
    if (stop.is_cancelled()) return absl::CancelledError("the director ends");
    std::optional<devices::LeaseOwner> owner = devices::ParseLeaseName(project_id, lease.name);
    if (!owner) continue;
    left.all.push_back(lease);
    const absl::StatusOr<devices::DeviceWorld>& world = worlds.Of(lease.root);
    if (absl::IsUnavailable(world.status())) return world.status();
    if (world.ok()) {
      left.readable.push_back({.lease = lease, .owner = *std::move(owner), .world = *world});
    } else {
      LogWarning("devices: lease={} is given up: {}", lease.name, MessageOf(world.status()));
    }
  }
  return left;
}

}  // namespace galley::director
