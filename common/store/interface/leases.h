// Leases: roots that a store keeps for a time, because somebody looks at them: the newest root of a
// DeviceTree, and the root of each DeviceSession.
//
// A lease holds until its time, or until it is released. It survives its holder and the owner of
// the store: a holder that comes back finds its leases by name. A lease keeps a whole tree, links
// and all, whatever its size; of a damaged tree it keeps all that can be reached.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/digest.h"

namespace galley::store {

inline constexpr size_t kLeaseNameBytesMax = 200;
// The most leases that a store keeps at a time.
inline constexpr size_t kLeasesMax = 20'000;

struct RootLease {
  std::string name;  // ValidateLeaseName; holders share a store: "<project id>/<session id>"
  Digest root;
  absl::Time until;  // stored in microseconds
  bool operator==(const RootLease&) const = default;
};

struct LeaseChanges {
  std::vector<std::string> released;  // names; a name that no lease has is ignored
  std::vector<RootLease> taken;  // after the releases; of several with one name the last counts
};

// INVALID_ARGUMENT unless the name has only letters, digits and "._-+/", and at most
// kLeaseNameBytesMax bytes.
absl::Status ValidateLeaseName(std::string_view name);
absl::Status ValidateLeaseNames(std::span<const RootLease> leases);
// Returns the leases in `taken` whose roots no lease in `held` has.
std::vector<RootLease> LeasesOfNewRoots(std::span<const RootLease> taken,
                                        std::span<const RootLease> held);
// NOT_FOUND: the store has no folder with the digest of the lease's root.
absl::Status AbsentRootOfLease(const RootLease& lease);

// The bytes of the file in which a store keeps leases (docs/formats.md, "Leases").
std::string EncodeLeases(std::span<const RootLease> leases);
// DATA_LOSS: damaged. FAILED_PRECONDITION: of another version.
absl::StatusOr<std::vector<RootLease>> DecodeLeases(std::string_view text);

}  // namespace galley::store
