// CallWatchdog: cancels a gRPC call that is silent for too long.
//
// Threads: any.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <thread>

#include "absl/time/time.h"
#include "common/base/mutex.h"

namespace galley::store {

class CallWatchdog {
 public:
  CallWatchdog(grpc::ClientContext& context, absl::Duration first) : context_(context) {
    Reset(first);
    thread_ = std::thread([this] { Run(); });
  }
  ~CallWatchdog() {
    {
      const base::MutexLock lock(mutex_);
      is_over_ = true;
    }
    changed_.NotifyAll();
    thread_.join();
  }
  void Reset(absl::Duration time) {
    const base::MutexLock lock(mutex_);
    end_ = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(time);
    changed_.NotifyAll();
  }
  bool has_fired() const {
    const base::MutexLock lock(mutex_);
    return has_fired_;
  }

 private:
  void Run() {
    const base::MutexLock lock(mutex_);
    while (!is_over_ && !has_fired_) {
      const auto left = end_ - std::chrono::steady_clock::now();
      if (left > left.zero()) {
        changed_.WaitFor(mutex_, left);
        continue;
      }
      has_fired_ = true;
      context_.TryCancel();
    }
  }

  grpc::ClientContext& context_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::chrono::steady_clock::time_point end_ GALLEY_GUARDED_BY(mutex_);
  bool is_over_ GALLEY_GUARDED_BY(mutex_) = false;
  bool has_fired_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace galley::store
