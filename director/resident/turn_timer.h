// TurnTimer: calls a function on a thread of its own when a time has come.
//
// Threads: WakeAt: any.
#pragma once

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "director/resident/device_threads.h"

namespace galley::director {

class TurnTimer final : public WakeTimer {
 public:
  TurnTimer(std::function<absl::Time()> now, std::function<void()> wake)
      : now_(std::move(now)), wake_(std::move(wake)), thread_([this] { Run(); }) {}
  ~TurnTimer() override { End(); }

  void WakeAt(absl::Time at) override {
    {
      base::MutexLock lock(mutex_);
      if (at >= at_) return;
      at_ = at;
    }
    changed_.NotifyAll();
  }
  void End() override {
    {
      base::MutexLock lock(mutex_);
      is_ending_ = true;
    }
    changed_.NotifyAll();
    if (thread_.joinable()) thread_.join();
  }

 private:
  // A clock that is set must not hold the timer up for long.
  static constexpr absl::Duration kSleepMax = absl::Seconds(1);

  void Run() {
    while (AwaitTime()) wake_();
  }
  bool AwaitTime() {
    base::MutexLock lock(mutex_);
    while (!is_ending_ && now_() < at_)
      changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(std::min(at_ - now_(), kSleepMax)));
    at_ = absl::InfiniteFuture();
    return !is_ending_;
  }

  const std::function<absl::Time()> now_;
  const std::function<void()> wake_;
  base::Mutex mutex_;
  base::CondVar changed_;
  absl::Time at_ GALLEY_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace galley::director
