// TaskPool: threads that run posted tasks, the earliest first. The tasks may block.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "director/shell/tasks.h"

namespace galley::director {

class TaskPool final : public Tasks {
 public:
  explicit TaskPool(size_t threads) {
    for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
  }
  ~TaskPool() override { End(); }

  void Post(std::function<void()> task) override {
    {
      base::MutexLock lock(mutex_);
      tasks_.push_back(std::move(task));
    }
    changed_.NotifyOne();
  }
  // Runs the posted tasks, and then ends the threads. A task that is posted later never runs.
  void End() {
    {
      base::MutexLock lock(mutex_);
      is_ending_ = true;
    }
    changed_.NotifyAll();
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

 private:
  void Run() {
    while (true) {
      std::function<void()> task;
      {
        base::MutexLock lock(mutex_);
        while (tasks_.empty() && !is_ending_) changed_.Wait(mutex_);
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> tasks_ GALLEY_GUARDED_BY(mutex_);
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace galley::director
