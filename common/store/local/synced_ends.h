// SyncedEnds: up to where the segments that an owner fills are on the disk. What lies behind is
// nobody's yet: a sync of it may fail.
//
// Only segments that this owner has begun or gone on with are in it; others end where their files
// end.
// Threads: any; no other lock is taken meanwhile.
#pragma once

#include <cstdint>
#include <map>

#include "common/base/mutex.h"

namespace galley::store {

class SyncedEnds {
 public:
  // Before the file is there, and whenever more of it is synced.
  void Set(uint64_t segment, uint64_t end) {
    const base::MutexLock lock(mutex_);
    ends_[segment] = end;
  }
  void Forget(uint64_t segment) {
    const base::MutexLock lock(mutex_);
    ends_.erase(segment);
  }
  // Segments that are listed before this call, and are not in the answer, are not being filled.
  std::map<uint64_t, uint64_t> All() const {
    const base::MutexLock lock(mutex_);
    return ends_;
  }

 private:
  mutable base::Mutex mutex_;
  std::map<uint64_t, uint64_t> ends_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
