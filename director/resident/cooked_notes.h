// CookedNotes: results that cooks have brought, from the threads of the cooks to the turns, in
// batches: a turn for each of a hundred thousand would make their cook slower.
//
// A turn first takes what was noted before the turn was posted (count), so that everything is taken
// up in the order in which it came.
//
// When the turns are held up by the store, at most kNotedMax results wait. Later ones are left out:
// who asks for such a package has it looked up.
//
// Threads: any; Take: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "director/shell/result_table.h"

namespace galley::director {

class CookedNotes {
 public:
  static constexpr size_t kNotedMax = 100'000;

  // True: nothing else waits, so somebody has to Take it soon. A caller of Take that leaves a
  // result there has to come again soon, too.
  bool Note(StoredResultPtr result) {
    base::MutexLock lock(mutex_);
    if (noted_.size() == kNotedMax) {
      ++left_out_;
      return false;
    }
    ++count_;
    noted_.push_back(std::move(result));
    return noted_.size() == 1;
  }
  // Returns how many were left out since the last call.
  uint64_t TakeLeftOut() {
    base::MutexLock lock(mutex_);
    return std::exchange(left_out_, 0);
  }
  bool is_empty() const {
    base::MutexLock lock(mutex_);
    return noted_.empty();
  }
  // How many were noted so far.
  uint64_t count() const {
    base::MutexLock lock(mutex_);
    return count_;
  }
  // Takes the results among the first `count` that were not taken yet, in the order of Note.
  std::vector<StoredResultPtr> Take(uint64_t count) {
    std::vector<StoredResultPtr> taken;
    base::MutexLock lock(mutex_);
    taken.reserve(noted_.size());
    for (; !noted_.empty() && count_ - noted_.size() < count; noted_.pop_front())
      taken.push_back(std::move(noted_.front()));
    return taken;
  }

 private:
  mutable base::Mutex mutex_;
  uint64_t count_ GALLEY_GUARDED_BY(mutex_) = 0;
  uint64_t left_out_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::deque<StoredResultPtr> noted_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
