// SyncedEnds: the synced ends of the segments that an owner fills. Bytes after an end do not count
// yet: their sync may fail.
//
// Holds only segments that this owner has begun or continued; other segments end where their files
// end.
// Threads: any; no other lock is taken meanwhile.
#pragma once

#include <cstdint>
#include <map>

#include "common/base/mutex.h"

namespace galley::store {

class SyncedEnds {
 public:
  // Call before the file exists, and whenever more of it is synced.
  void Set(uint64_t segment, uint64_t end) {
    const base::MutexLock lock(mutex_);
    ends_[segment] = end;
  }
  void Forget(uint64_t segment) {
    const base::MutexLock lock(mutex_);
    ends_.erase(segment);
  }
  // Segments that were listed before this call and are not in the answer are not being filled.
  std::map<uint64_t, uint64_t> All() const {
    const base::MutexLock lock(mutex_);
    return ends_;
  }

 private:
  mutable base::Mutex mutex_;
  std::map<uint64_t, uint64_t> ends_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
