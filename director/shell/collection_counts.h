// CollectionCounts: counts how often the executors of each worker gave memory back, in the life of
// the worker.
//
// Threads: any.
#pragma once

#include <map>
#include <string>

#include "common/base/mutex.h"
#include "director/shell/active_cook.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class CollectionCounts {
 public:
  void Take(const std::string& worker, const v1::Collections& counts) {
    base::MutexLock lock(mutex_);
    counts_[worker] = counts;
  }
  Collections Sum() const {
    Collections sum;
    base::MutexLock lock(mutex_);
    for (const auto& [worker, counts] : counts_) {
      sum.soft_limit += counts.soft_limit();
      sum.hard_limit += counts.hard_limit();
      sum.package_count += counts.package_count();
      sum.idle += counts.idle();
      sum.restarts += counts.restarts();
      sum.pauses += counts.pauses();
    }
    return sum;
  }

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, v1::Collections> counts_ GALLEY_GUARDED_BY(mutex_);  // by worker
};

}  // namespace galley::director
