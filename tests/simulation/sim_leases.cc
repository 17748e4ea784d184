// SimStore's leases: a file that is written anew with each change, as in the product.

#include "common/base/status_macros.h"
#include "tests/simulation/sim_store.h"

namespace galley::simulation {
namespace {

const std::string kLeases = "store/leases";

}  // namespace

void SimStore::ReadLeases() {
  const auto file = disk_.Read(kLeases);
  if (!file.ok()) return;
  const auto leases = store::DecodeLeases(*file);
  if (!leases.ok()) return;
  for (const store::RootLease& lease : *leases) leases_[lease.name] = lease;
}

// After an error the file is as before.
absl::Status SimStore::WriteLeases(std::string_view text) {
  const std::string temporary = kLeases + ".new";
  if (disk_.Has(temporary)) disk_.Remove(temporary);
  disk_.Append(temporary, text);
  RETURN_IF_ERROR(disk_.Sync(temporary));
  disk_.Rename(temporary, kLeases);
  return disk_.SyncFolder("store");
}

absl::Status SimStore::ChangeLeases(const store::LeaseChanges& changes) {
  RETURN_IF_ERROR(Fails());
  RETURN_IF_ERROR(store::ValidateLeaseNames(changes.taken));
  ASSIGN_OR_RETURN(const std::vector<store::RootLease> held, Leases());
  for (const store::RootLease& lease : store::LeasesOfNewRoots(changes.taken, held)) {
    if (!LocationOf(lease.root)) return store::AbsentRootOfLease(lease);
  }
  RETURN_IF_ERROR(Commit({}));  // what was put before
  std::map<std::string, store::RootLease> leases = leases_;
  for (const std::string& name : changes.released) leases.erase(name);
  for (const store::RootLease& lease : changes.taken) leases[lease.name] = lease;
  std::vector<store::RootLease> all;
  for (const auto& [name, lease] : leases) all.push_back(lease);
  RETURN_IF_ERROR(WriteLeases(store::EncodeLeases(all)));
  leases_ = std::move(leases);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<store::RootLease>> SimStore::Leases() {
  std::vector<store::RootLease> all;
  for (const auto& [name, lease] : leases_) all.push_back(lease);
  return all;
}

}  // namespace galley::simulation
