#include "director/shell/cook_seat.h"

namespace galley::director {

void ToldInOrder::Add(Tell tell) {
  {
    base::MutexLock lock(mutex_);
    waiting_.push_back(std::move(tell));
  }
  changed_.NotifyAll();
}

void ToldInOrder::SetProgress(const Counters& counters, const Progress& progress) {
  {
    base::MutexLock lock(mutex_);
    progress_ = {counters, progress};
  }
  changed_.NotifyAll();
}

void ToldInOrder::End(absl::StatusOr<ShellOutcome> outcome) {
  {
    base::MutexLock lock(mutex_);
    outcome_ = std::move(outcome);
  }
  changed_.NotifyAll();
}

absl::StatusOr<ShellOutcome> ToldInOrder::Hear(ShellListener& listener) {
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
