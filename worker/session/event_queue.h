// EventQueue: from the session's threads to the one that steps the core. Full: Push waits. Closed:
// what is pushed is dropped. Threads: any may push, one takes.
#pragma once

#include <chrono>
#include <deque>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "worker/session/session_core.h"

namespace galley::worker {

class EventQueue {
 public:
  struct Entry {
    SessionEvent event;
    uint64_t stream = 0;  // of which stream, for Connected, Disconnected and Received
  };
  static constexpr size_t kEntriesMax = 4'096;

  void Push(Entry entry) {
    base::MutexLock lock(mutex_);
    while (entries_.size() >= kEntriesMax && !is_closed_) changed_.Wait(mutex_);
    if (is_closed_) return;
    entries_.push_back(std::move(entry));
    if (entries_.size() == 1) changed_.NotifyAll();
  }

  // All that is there; waits at most `timeout` for the first.
  std::vector<Entry> TakeAll(std::chrono::nanoseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    base::MutexLock lock(mutex_);
    while (entries_.empty() && !is_closed_) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero() || !changed_.WaitFor(mutex_, left)) break;
    }
    std::vector<Entry> taken(std::make_move_iterator(entries_.begin()),
                             std::make_move_iterator(entries_.end()));
    const bool was_full = entries_.size() >= kEntriesMax;
    entries_.clear();
    if (was_full) changed_.NotifyAll();
    return taken;
  }

  void Close() {
    base::MutexLock lock(mutex_);
    is_closed_ = true;
    changed_.NotifyAll();
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  bool is_closed_ GALLEY_GUARDED_BY(mutex_) = false;
  std::deque<Entry> entries_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::worker
