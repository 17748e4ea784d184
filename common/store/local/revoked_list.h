// RevokedList: the workers whose results must not be used, in the store's file `revoked`
// (record/revocation.h). The list is no part of the log: no entry is ever dropped.
//
// Threads: any.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mutex.h"
#include "common/record/revocation.h"

namespace galley::store {

class RevokedList {
 public:
  static constexpr size_t kRevokedMax = 10'000;

  // Puts a damaged file aside, which is noted (base/repairs.h): the list begins anew.
  explicit RevokedList(const std::string& store_directory);

  std::vector<record::Revocation> All() const;
  // Adds a revocation, durably. Replaces revocations of this worker whose span of time the new one
  // covers. RESOURCE_EXHAUSTED: there are kRevokedMax.
  absl::Status Add(record::Revocation revocation);

 private:
  const std::string path_;
  mutable base::Mutex mutex_;
  std::vector<record::Revocation> all_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
