// WorldOrder: the newest world from which something was put at each of several places: the roots of
// a platform, the files of a sandbox. What is of an older world comes too late there.
//
// Two cooks may be settled in two worlds, and the cook of the older world may publish last.
// Threads: any.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "common/base/mutex.h"

namespace galley::director {

class WorldOrder {
 public:
  // Says whether something of the world (World::number) may be put at the place, and notes that it
  // is. False: something of a newer world was put there.
  bool Enter(const std::string& place, uint64_t world) {
    const base::MutexLock lock(mutex_);
    uint64_t& newest = newest_[place];
    if (world < newest) return false;
    newest = world;
    return true;
  }
  // Says whether something of a newer world was put at the place.
  bool IsPast(const std::string& place, uint64_t world) const {
    const base::MutexLock lock(mutex_);
    const auto newest = newest_.find(place);
    return newest != newest_.end() && world < newest->second;
  }
  // Forgets all places: worlds are numbered anew.
  void Clear() {
    const base::MutexLock lock(mutex_);
    newest_.clear();
  }

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, uint64_t> newest_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
