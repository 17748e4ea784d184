// ReplyBudget: limits the memory of replies that were handed to the wire and that no client has
// taken yet. A client that asks for much and reads nothing holds its replies until its calls are
// overdue (methods.h): it must neither fill the memory nor keep room from clients that read.
//
// A reply without room is refused, and calls whose replies have waited for ten seconds or longer
// are ended, the longest wait first, so that the next replies find room. Their bytes count until
// the calls have ended. Pure.
// Threads: any.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace galley::store {

class ReplyBudget {
 public:
  using Call = const void*;
  struct Outcome {
    bool fits = true;
    std::vector<Call> ended;  // the caller cancels these calls; each still calls GiveBack
  };

  explicit ReplyBudget(size_t bytes_max) : bytes_max_(bytes_max) {}

  // REQUIRES: the call holds no reply.
  Outcome Take(Call call, size_t bytes, absl::Time now);
  // Notes that the call's reply was taken, or that the call has ended. Does nothing if it holds no
  // reply.
  void GiveBack(Call call);
  size_t bytes() const;

 private:
  struct Reply {
    size_t bytes = 0;
    absl::Time since;
  };

  const size_t bytes_max_;
  mutable base::Mutex mutex_;
  size_t bytes_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::map<Call, Reply> replies_ GALLEY_GUARDED_BY(mutex_);
  // Calls by age, without calls that Take ended.
  std::set<std::pair<absl::Time, Call>> by_age_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::store
