// UsedResults: results that somebody asked for, and whose use the index does not know yet. The next
// write of the index takes them.
//
// Threads: any; no other lock is taken meanwhile.
#pragma once

#include <set>
#include <span>
#include <utility>

#include "common/base/digest.h"
#include "common/base/mutex.h"
#include "common/store/local/segment_format.h"

namespace galley::store {

class UsedResults {
 public:
  struct Keys {
    std::set<Digest> results, action_results;
  };

  // `kind`: kResult or kActionResult.
  void Note(RecordKind kind, std::span<const Digest> keys) {
    const base::MutexLock lock(mutex_);
    (kind == RecordKind::kResult ? keys_.results : keys_.action_results)
        .insert(keys.begin(), keys.end());
  }
  // Returns the keys that were noted since the last call.
  Keys Take() {
    const base::MutexLock lock(mutex_);
    return std::exchange(keys_, Keys());
  }

 private:
  base::Mutex mutex_;
  Keys keys_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
