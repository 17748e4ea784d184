// WaitingCall: a call of a device whose answer may come later.
//
// Threads: any. No callback runs under the lock.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "common/base/mutex.h"
#include "director/serve/device_calls.h"

namespace galley::director {

template <typename Answer>
class WaitingCall final : public DeviceCall {
 public:
  using Callback = std::function<void(const Answer&)>;
  explicit WaitingCall(Callback callback) : callback_(std::move(callback)) {}

  // Does nothing after another Answer or Cancel.
  void Give(const Answer& answer) {
    if (const Callback callback = End()) callback(answer);
  }
  void Cancel() override {
    std::function<void()> hook;
    {
      base::MutexLock lock(mutex_);
      callback_ = nullptr;
      hook = std::exchange(on_cancel_, nullptr);
    }
    if (hook) hook();
  }
  // `hook` is called when the call is cancelled before its answer; at once, if it is over.
  void OnCancel(std::function<void()> hook) {
    {
      base::MutexLock lock(mutex_);
      if (callback_ != nullptr) {
        on_cancel_ = std::move(hook);
        return;
      }
    }
    hook();
  }
  bool is_over() const {
    base::MutexLock lock(mutex_);
    return callback_ == nullptr;
  }

 private:
  Callback End() {
    base::MutexLock lock(mutex_);
    on_cancel_ = nullptr;
    return std::exchange(callback_, nullptr);
  }

  mutable base::Mutex mutex_;
  Callback callback_ GALLEY_GUARDED_BY(mutex_);  // null: the call is over
  std::function<void()> on_cancel_ GALLEY_GUARDED_BY(mutex_);
};

using FileCall = WaitingCall<DeviceAnswer>;
using RecordCall = WaitingCall<RecordAnswer>;
using SessionCall = WaitingCall<SessionAnswer>;
using DifferenceCall = WaitingCall<DifferenceAnswer>;

}  // namespace galley::director
