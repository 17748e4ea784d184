// TaskThread: a thread that runs posted tasks in order. Look-ups have one TaskThread, and commits
// have another, which also runs tasks that must be in order with commits: publishing, successor
// snapshots. What must not keep commits waiting has further ones (cook_owners.h).
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
  // Runs the posted tasks, and then ends the thread. REQUIRES: no task is posted any more.
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
