#include "common/store/local/commit_queue.h"

#include <algorithm>

namespace galley::store {

absl::Status CommitQueue::Run(const CommitBatch& batch) {
  Caller caller{.batch = &batch};
  const base::MutexLock lock(mutex_);
  waiting_.push_back(&caller);
  while (!caller.is_done) {
    if (is_running_) {
      done_.Wait(mutex_);
    } else {
      RunGroup();
    }
  }
  return caller.outcome;
}

void CommitQueue::RunGroup() {
  const auto end =
      waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(kGroupMax, waiting_.size()));
  const std::vector<Caller*> group(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  std::vector<const CommitBatch*> batches;
  for (const Caller* caller : group) batches.push_back(caller->batch);
  is_running_ = true;
  mutex_.unlock();
  std::vector<absl::Status> outcomes = commit_(batches);
  mutex_.lock();
  is_running_ = false;
  for (size_t i = 0; i < group.size(); ++i) {
    group[i]->outcome = std::move(outcomes[i]);
    group[i]->is_done = true;
  }
  done_.NotifyAll();
}

size_t CommitQueue::waiting() const {
  const base::MutexLock lock(mutex_);
  return waiting_.size();
}

}  // namespace galley::store
