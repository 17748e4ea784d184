#include "director/shell/active_cook.h"

namespace galley::director {

void ListenerQueue::Add(Item item) {
  {
    base::MutexLock lock(mutex_);
    told_late_ += outcome_.has_value();
    waiting_.push_back(std::move(item));
  }
  changed_.NotifyAll();
}

void ListenerQueue::SetProgress(const Counters& counters, const Progress& progress) {
  {
    base::MutexLock lock(mutex_);
    progress_ = {CookEvent::Progressed{counters, progress}};
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

absl::StatusOr<ShellOutcome> ListenerQueue::Hear(CookEventSink& sink) {
  while (true) {
    std::deque<Item> told;
    std::optional<CookEvent> progress;
    std::optional<absl::StatusOr<ShellOutcome>> outcome;
    {
      base::MutexLock lock(mutex_);
      while (waiting_.empty() && !progress_.has_value() && !outcome_.has_value())
        changed_.Wait(mutex_);
      told.swap(waiting_);
      progress.swap(progress_);
      outcome = outcome_;
    }
    for (const Item& item : told) {
      if (const auto* const event = std::get_if<CookEvent>(&item)) {
        sink.TakeEvent(*event);
      } else {
        std::get<std::function<void()>>(item)();
      }
    }
    if (progress.has_value()) sink.TakeEvent(*progress);
    if (outcome.has_value()) return *std::move(outcome);
  }
}

}  // namespace galley::director
