// WantedLeases: the roots that the store must keep for devices now, and how that differs from what
// it was told: the newest root of each DeviceTree, and the root of each live session.
//
// A lease holds for kLength, and is renewed when less than kRenewal is left, so that a session that
// asks all the time costs a lease every ten minutes. A director that dies leaves leases that end
// by themselves; the next director finds its sessions and worlds by them.
// Threads: none.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "common/base/digest.h"
#include "common/store/interface/leases.h"

namespace galley::devices {

// A session's id is 1 to 64 of [A-Za-z0-9_-]. The caller makes it, so that it cannot be guessed.
inline constexpr size_t kSessionIdBytesMax = 64;
bool IsSessionId(std::string_view id);

// LeaseOwner: what a lease's name says. Projects share a store, so a name begins with the project's
// id.
struct LeaseOwner {
  std::string session;           // empty: the lease is a DeviceTree's
  bool takes_last_good = false;  // of a session
  std::string tree;              // hex of SHA-256 of the file `world`; empty: a session's
  bool operator==(const LeaseOwner&) const = default;
};
// "<project>/device-session/<id>", "<project>/device-last-good/<id>" or
// "<project>/device-tree/<64 hex>".
std::string LeaseName(std::string_view project, const LeaseOwner& owner);
// nullopt: LeaseName writes no such name for this project; the lease belongs to others.
std::optional<LeaseOwner> ParseLeaseName(std::string_view project, std::string_view name);

class WantedLeases {
 public:
  static constexpr absl::Duration kLength = absl::Minutes(20);
  // Longer than the silence that ends a session, so that a lease outlasts its session.
  static constexpr absl::Duration kRenewal = absl::Minutes(11);

  // The store has these leases of an earlier director. Those that are not wanted by the next
  // TakeChanges are released.
  void NoteHeld(std::vector<store::RootLease> leases);
  // The root is wanted under this name, in place of another root.
  void Want(const std::string& name, const Digest& root, absl::Time now);
  void Drop(const std::string& name);
  // Lists the leases to take and to release now, each sorted by name. They count as told; if the
  // store does not take them, call NoteLost and try again.
  store::LeaseChanges TakeChanges();
  // The store did not take these changes.
  void NoteLost(const store::LeaseChanges& changes);
  size_t size() const { return wanted_.size(); }

 private:
  std::map<std::string, store::RootLease> wanted_;
  std::map<std::string, store::RootLease> told_;
  std::set<std::string> touched_;  // names whose leases may differ
};

}  // namespace galley::devices
