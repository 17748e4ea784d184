#include "common/store/reapi/server/reply_budget.h"

namespace galley::store {
namespace {

// A thousand honest readers of one slow line wait for some seconds for each piece.
constexpr absl::Duration kPatience = absl::Seconds(10);

}  // namespace

ReplyBudget::Outcome ReplyBudget::Take(Call call, size_t bytes, absl::Time now) {
  Outcome outcome;
  const base::MutexLock lock(mutex_);
  // A reply that is larger than the budget has its turn when there is no other.
  outcome.fits = bytes_ == 0 || bytes_ + bytes <= bytes_max_;
  if (outcome.fits) {
    bytes_ += bytes;
    replies_[call] = {.bytes = bytes, .since = now};
    by_age_.emplace(now, call);
    return outcome;
  }
  for (size_t ending = 0; ending < bytes && !by_age_.empty();) {
    const auto oldest = by_age_.begin();
    if (now - oldest->first < kPatience) break;
    ending += replies_.at(oldest->second).bytes;
    outcome.ended.push_back(oldest->second);
    by_age_.erase(oldest);
  }
  return outcome;
}

void ReplyBudget::GiveBack(Call call) {
  const base::MutexLock lock(mutex_);
  const auto at = replies_.find(call);
  if (at == replies_.end()) return;
  bytes_ -= at->second.bytes;
  by_age_.erase({at->second.since, call});
  replies_.erase(at);
}

size_t ReplyBudget::bytes() const {
  const base::MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace galley::store
