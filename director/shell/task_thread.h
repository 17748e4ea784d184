// TaskThread: a thread that runs posted tasks in order. Look-ups have one TaskThread, commits
// another; tasks that must be ordered with commits (roots, successor snapshots) go to the commits.
// Threads: any.
#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "common/base/mutex.h"
#include "director/shell/tasks.h"

namespace galley::director {

class TaskThread final : public Tasks {
 public:
  TaskThread();
  ~TaskThread() override { End(); }
  void Post(std::function<void()> task) override;
  // Waits until all posted tasks have run.
  void Drain();
  // Runs the posted tasks, then ends the thread. REQUIRES: nobody posts from now on.
  void End();

 private:
  void Run();
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> tasks_ GALLEY_GUARDED_BY(mutex_);
  bool ending_ GALLEY_GUARDED_BY(mutex_) = false;
  bool busy_ GALLEY_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace galley::director
