// TaskPool: a few threads that run posted tasks. Tasks may block; their order is not defined.
//
// The idle thread that worked last is woken first: few tasks at a time keep few threads busy, with
// warm caches and free memory.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/mutex.h"

namespace galley::base {

class TaskPool {
 public:
  explicit TaskPool(size_t threads) {
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
  }
  // Drops tasks that have not begun; waits for the others.
  ~TaskPool() {
    {
      MutexLock lock(mutex_);
      is_ending_ = true;
      for (Idle* idle : idle_) idle->woken.NotifyOne();
      idle_.clear();
    }
    for (std::thread& thread : threads_) thread.join();
  }
  void Post(std::function<void()> task) {
    MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
    if (idle_.empty()) return;
    Idle& idle = *idle_.back();
    idle_.pop_back();
    idle.is_woken = true;
    idle.woken.NotifyOne();
  }

 private:
  void Run() {
    while (true) {
      std::function<void()> task;
      {
        MutexLock lock(mutex_);
        while (tasks_.empty() && !is_ending_) WaitForOne();
        if (is_ending_) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  void WaitForOne() GALLEY_REQUIRES(mutex_) {
    Idle self;
    idle_.push_back(&self);
    while (!self.is_woken && !is_ending_) self.woken.Wait(mutex_);
  }

  // Idle: a thread that waits. Whoever removes it from the list wakes it.
  struct Idle {
    CondVar woken;
    bool is_woken = false;
  };

  Mutex mutex_;
  std::vector<Idle*> idle_ GALLEY_GUARDED_BY(mutex_);  // the back worked last
  std::deque<std::function<void()>> tasks_ GALLEY_GUARDED_BY(mutex_);
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace galley::base
