#include "director/shell/active_cook.h"

namespace galley::director {

void ListenerQueue::Add(Tell tell) {
  {
    base::MutexLock lock(mutex_);
    told_late_ += outcome_.has_value();
    waiting_.push_back(std::move(tell));
  }
  changed_.NotifyAll();
}

void ListenerQueue::SetProgress(const Counters& counters, const Progress& progress) {
  {
    base::MutexLock lock(mutex_);
    progress_ = {counters, progress};
  }
  changed_.NotifyAll();
}

void ListenerQueue::End(absl::StatusOr<ShellOutcome> outcome) {
  {
    base::MutexLock lock(mutex_);
    outcome_ = std::move(outcome);
  }
  changed_.NotifyAll();
}

absl::StatusOr<ShellOutcome> ListenerQueue::Hear(ShellListener& listener) {
  while (true) {
    std::deque<Tell> told;
    std::optional<std::pair<Counters, Progress>> progress;
    std::optional<absl::StatusOr<ShellOutcome>> outcome;
    {
      base::MutexLock lock(mutex_);
      while (waiting_.empty() && !progress_.has_value() && !outcome_.has_value())
        changed_.Wait(mutex_);
      told.swap(waiting_);
      progress.swap(progress_);
      outcome = outcome_;
    }
    for (const Tell& one : told) one(listener);
    if (progress.has_value()) listener.OnProgress(progress->first, progress->second);
    if (outcome.has_value()) return *std::move(outcome);
  }
}

}  // namespace galley::director
