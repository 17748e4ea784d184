// LeasedRoots: the leases of DeviceTrees' roots that the store has, and for each audience the
// newest root that may be told.
//
// Threads: none.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/digest.h"
#include "common/store/interface/store.h"
#include "director/devices/device_sessions.h"

namespace galley::director {

class LeasedRoots {
 public:
  // The store has taken these changes.
  void NoteChanges(const store::LeaseChanges& changes);
  bool Has(const Digest& root) const { return roots_.contains(root); }
  // Returns the root that the lease of this name keeps. nullptr: there is no such lease.
  const Digest* Find(const std::string& name) const;

  // The audience's newest root in the present world, leased or not.
  void SetNewest(const devices::Audience& audience, const Digest& root) {
    newest_[audience] = root;
  }
  // Returns the newest root of the audience that was leased. Digest(): none was, or it has no lease
  // any more.
  Digest NewestLeased(const devices::Audience& audience) const;
  // The audience has no tree any more.
  void Drop(const devices::Audience& audience);
  // Drops all other audiences. `audiences`: sorted.
  void KeepOnly(const std::vector<devices::Audience>& audiences);

 private:
  void Forget(const std::string& name);

  std::map<std::string, Digest> leases_;        // roots by the lease's name
  absl::flat_hash_map<Digest, size_t> roots_;   // how many leases a root has
  std::map<devices::Audience, Digest> newest_;  // in the present world
  std::map<devices::Audience, Digest> newest_leased_;
};

}  // namespace galley::director
