#include "director/resident/timed_calls.h"

namespace galley::director {
namespace {

constexpr size_t kNotedMax = 1'024;

}  // namespace

bool TimedCalls::Post(absl::Time deadline, const Timed& timed, std::function<void()> task) {
  base::MutexLock lock(mutex_);
  if (has_ended_) return false;
  if (++noted_ > kNotedMax) DropOver();
  timed_.emplace(deadline, timed);
  pool_->Post(std::move(task));
  return true;
}

// Calls that were answered are forgotten now and then.
void TimedCalls::DropOver() {
  noted_ = 0;
  std::erase_if(timed_, [](const auto& one) { return one.second.stop.expired(); });
}

void TimedCalls::Expire(absl::Time now) {
  std::vector<Timed> over;
  {
    base::MutexLock lock(mutex_);
    DropOver();
    while (!timed_.empty() && timed_.begin()->first <= now) {
      over.push_back(timed_.begin()->second);
      timed_.erase(timed_.begin());
    }
  }
  for (const Timed& one : over)
    one.End({.kind = RefusalKind::kDeadline, .text = "it took too long"});
}

absl::Time TimedCalls::due_at() const {
  base::MutexLock lock(mutex_);
  return timed_.empty() ? absl::InfiniteFuture() : timed_.begin()->first;
}

void TimedCalls::End(const DeviceRefusal& refusal) {
  std::multimap<absl::Time, Timed> timed;
  {
    base::MutexLock lock(mutex_);
    if (!has_ended_) ended_ = refusal;
    has_ended_ = true;
    timed.swap(timed_);
  }
  for (const auto& [deadline, one] : timed) one.End(refusal);
  pool_->End();  // waits for the work that has begun
}

}  // namespace galley::director
