// RevokedList: whose results are not to be used any more, as the store's file `revoked` says
// (record/revocation.h). It is no part of the log: nothing of it is ever dropped.
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

  // A file that is damaged is put aside, which is noted (base/healed.h): the list begins anew.
  explicit RevokedList(const std::string& store_directory);

  std::vector<record::Revocation> All() const;
  // On the disk when it returns. One that says the same, but until an earlier time, is replaced.
  // RESOURCE_EXHAUSTED: there are kRevokedMax.
  absl::Status Add(record::Revocation revocation);

 private:
  const std::string path_;
  mutable base::Mutex mutex_;
  std::vector<record::Revocation> all_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
