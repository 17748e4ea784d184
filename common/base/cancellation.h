// Cancellation: tells calls that are under way, and waits, that nobody wants their answer any more.
//
// Threads: any. A hook runs under the lock, so that none runs once its Hook is gone: it must not
// call back, and must be short.
#pragma once

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
  bool is_cancelled() const {
    base::MutexLock lock(mutex_);
    return is_cancelled_;
  }
  // Sleeps, but not beyond a Cancel.
  void Pause(absl::Duration time) {
    base::MutexLock lock(mutex_);
    const auto end = std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(time);
    while (!is_cancelled_) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero() || !changed_.WaitFor(mutex_, left)) return;
    }
  }

  // Runs `hook` when Cancel is called, or now when it was, for as long as it lives.
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
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  bool is_cancelled_ GALLEY_GUARDED_BY(mutex_) = false;
  uint64_t last_id_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, std::function<void()>> hooks_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley
