#include "director/resident/leased_roots.h"

#include <algorithm>

namespace galley::director {

void LeasedRoots::NoteChanges(const store::LeaseChanges& changes) {
  for (const std::string& name : changes.released) Forget(name);
  for (const store::RootLease& lease : changes.taken) {
    Forget(lease.name);
    leases_[lease.name] = lease.root;
    ++roots_[lease.root];
  }
  for (const auto& [audience, root] : newest_) {
    if (roots_.contains(root)) newest_leased_[audience] = root;
  }
}

const Digest* LeasedRoots::Find(const std::string& name) const {
  const auto found = leases_.find(name);
  return found == leases_.end() ? nullptr : &found->second;
}

void LeasedRoots::Forget(const std::string& name) {
  const auto lease = leases_.find(name);
  if (lease == leases_.end()) return;
  const auto root = roots_.find(lease->second);
  if (--root->second == 0) roots_.erase(root);
  leases_.erase(lease);
}

Digest LeasedRoots::NewestLeased(const devices::Audience& audience) const {
  const auto found = newest_leased_.find(audience);
  const bool is_kept = found != newest_leased_.end() && roots_.contains(found->second);
  return is_kept ? found->second : Digest();
}

void LeasedRoots::Drop(const devices::Audience& audience) {
  newest_.erase(audience);
  newest_leased_.erase(audience);
}

void LeasedRoots::KeepOnly(const std::vector<devices::Audience>& audiences) {
  const auto is_dropped = [&](const auto& one) {
    return !std::ranges::binary_search(audiences, one.first);
  };
  std::erase_if(newest_, is_dropped);
  std::erase_if(newest_leased_, is_dropped);
}

}  // namespace galley::director
