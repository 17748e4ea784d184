// TaskThread: one thread that runs the tasks posted to it, in order. Look-ups have one, commits
// another: tasks that must be ordered with commits (roots, successor snapshots) go there, too.
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
  // Waits until all that was posted has run.
  void Drain();
  // Runs what is posted, then ends the thread. REQUIRES: nobody posts from now on.
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
