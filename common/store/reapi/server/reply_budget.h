// ReplyBudget: how much memory replies may hold that were handed to the wire and that nobody has
// taken yet. A client that asks for much and reads nothing holds its replies until its calls are
// overdue (methods.h), and must not fill the memory, nor keep the place of those who read.
//
// When a reply finds no room it is refused, and calls whose replies have waited for ten seconds and
// longer are ended, the longest first: so there is room for whoever asks next. Their bytes count
// until they have ended. Pure.
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
    std::vector<Call> ended;  // the caller cancels them; they give back as others do
  };

  explicit ReplyBudget(size_t bytes_max) : bytes_max_(bytes_max) {}

  // REQUIRES: the call holds nothing.
  Outcome Take(Call call, size_t bytes, absl::Time now);
  // The call's reply was taken, or the call has ended. Harmless when it holds nothing.
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
  std::set<std::pair<absl::Time, Call>> by_age_ GALLEY_GUARDED_BY(mutex_);  // but for ended ones
};

}  // namespace galley::store
