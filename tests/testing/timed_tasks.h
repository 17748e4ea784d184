// TimedTasks: a thread that runs tasks when they are due; tasks of equal time run in the order in
// which they were added.
//
// Threads: any.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace galley::testing {

class TimedTasks {
 public:
  TimedTasks() : thread_([this] { Run(); }) {}
  // Drops waiting tasks, and ends after the task that runs.
  ~TimedTasks() { End(); }

  void At(absl::Time due, std::function<void()> task) {
    {
      const base::MutexLock lock(mutex_);
      tasks_.emplace(due, std::move(task));
    }
    changed_.NotifyAll();
  }
  void End() {
    {
      const base::MutexLock lock(mutex_);
      is_ending_ = true;
      changed_.NotifyAll();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Run() {
    SystemClock clock;
    while (true) {
      std::function<void()> task;
      {
        const base::MutexLock lock(mutex_);
        while (!is_ending_) {
          const absl::Time now = clock.Monotonic();
          if (tasks_.empty()) {
            changed_.Wait(mutex_);
          } else if (tasks_.begin()->first > now) {
            changed_.WaitFor(mutex_, absl::ToChronoNanoseconds(tasks_.begin()->first - now));
          } else {
            break;
          }
        }
        if (is_ending_) return;
        task = std::move(tasks_.begin()->second);
        tasks_.erase(tasks_.begin());
      }
      task();
    }
  }

  base::Mutex mutex_;
  base::CondVar changed_;
  std::multimap<absl::Time, std::function<void()>> tasks_ GALLEY_GUARDED_BY(mutex_);
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace galley::testing
