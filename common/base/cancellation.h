// Cancellation: tells running calls and waits that nobody wants their answer any more.
//
// Threads: any. A hook runs under the lock, and never after its Hook is gone: a hook must be short,
// and must not call the Cancellation.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace galley {

class Cancellation {
 public:
  void Cancel() {
    base::MutexLock lock(mutex_);
    is_cancelled_ = true;
    for (const auto& [id, hook] : hooks_) hook();
    changed_.NotifyAll();
  }
  // Takes no lock, so that the caller may hold a mutex that a hook locks.
  bool is_cancelled() const { return is_cancelled_.load(); }
  // Sleeps for `time`, or until Cancel.
  void Pause(absl::Duration time) {
    base::MutexLock lock(mutex_);
    const auto end = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(time);
    while (!is_cancelled_) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero() || !changed_.WaitFor(mutex_, left)) return;
    }
  }

  // While a Hook lives, Cancel runs `hook`; after Cancel, the constructor does.
  class Hook {
   public:
    Hook(Cancellation* cancellation, std::function<void()> hook) : cancellation_(cancellation) {
      if (cancellation_ == nullptr) return;
      base::MutexLock lock(cancellation_->mutex_);
      if (cancellation_->is_cancelled_) hook();
      id_ = ++cancellation_->last_id_;
      cancellation_->hooks_.emplace(id_, std::move(hook));
    }
    ~Hook() {
      if (cancellation_ == nullptr) return;
      base::MutexLock lock(cancellation_->mutex_);
      cancellation_->hooks_.erase(id_);
    }
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;

   private:
    Cancellation* const cancellation_;
    uint64_t id_ = 0;
  };

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::atomic<bool> is_cancelled_ = false;  // written under mutex_
  uint64_t last_id_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, std::function<void()>> hooks_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley
