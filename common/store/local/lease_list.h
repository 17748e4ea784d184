// LeaseList: the leases of a store (interface/leases.h), in the store's file `leases`.
//
// The file is no part of the log, and the index knows nothing of it. It is written anew with each
// change, so a batch costs one synced file, however many leases it has. Leases whose time has
// passed are left out of the next write.
//
// Threads: any. Blocks for the disk.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/store/interface/leases.h"

namespace galley::store {

class LeaseList {
 public:
  // Puts a damaged file aside, which is noted (base/repairs.h): the list begins anew, and a
  // collection may drop the trees that were leased.
  explicit LeaseList(const std::string& store_directory);

  // Returns the leases that hold at `now`, by name.
  std::vector<RootLease> All(absl::Time now) const;

  // Makes changes (Store::ChangeLeases), durably; all or none. REQUIRES: the names are valid.
  // RESOURCE_EXHAUSTED: more than kLeasesMax would hold at `now`.
  absl::Status Change(const LeaseChanges& changes, absl::Time now);

 private:
  using ByName = std::map<std::string, RootLease>;
  absl::Status Write(ByName leases) GALLEY_REQUIRES(mutex_);

  const std::string path_;
  mutable base::Mutex mutex_;
  ByName leases_ GALLEY_GUARDED_BY(mutex_);  // as in the file
};

}  // namespace galley::store
