// WaitPool: threads for calls that may wait for a cook, so that one that waits holds up no other.
// A thread is made when a call finds none idle, up to kThreadsMax; later calls wait for one.
//
// Threads: any; Stop: one.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace galley::mount {

class WaitPool {
 public:
  static constexpr size_t kThreadsMax = 256;

  ~WaitPool() { Stop(); }

  // After Stop the call is run at once, on this thread.
  void Run(std::function<void()> call) {
    {
      const std::lock_guard lock(mutex_);
      if (!has_stopped_) {
        calls_.push_back(std::move(call));
        if (idle_ < calls_.size() && threads_.size() < kThreadsMax)
          threads_.emplace_back([this] { Work(); });
        ready_.notify_one();
        return;
      }
    }
    call();
  }
  // Runs what was given until now, and ends.
  void Stop() {
    std::vector<std::thread> threads;
    {
      const std::lock_guard lock(mutex_);
      has_stopped_ = true;
      threads.swap(threads_);
      ready_.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  void Work() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++idle_;
      ready_.wait(lock, [this] { return has_stopped_ || !calls_.empty(); });
      --idle_;
      if (calls_.empty()) return;
      const std::function<void()> call = std::move(calls_.front());
      calls_.pop_front();
      lock.unlock();
      call();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> calls_;  // guarded by mutex_
  std::vector<std::thread> threads_;         // guarded by mutex_
  size_t idle_ = 0;                          // guarded by mutex_
  bool has_stopped_ = false;                 // guarded by mutex_
};

}  // namespace galley::mount
