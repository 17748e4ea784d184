#include "director/shell/task_thread.h"

#include <utility>

namespace galley::director {

TaskThread::TaskThread() : thread_([this] { Run(); }) {}

void TaskThread::End() {
  if (!thread_.joinable()) return;
  {
    base::MutexLock lock(mutex_);
    ending_ = true;
  }
  changed_.NotifyAll();
  thread_.join();
}

void TaskThread::Post(std::function<void()> task) {
  {
    base::MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyAll();
}

void TaskThread::Drain() {
  base::MutexLock lock(mutex_);
  while (busy_ || !tasks_.empty()) changed_.Wait(mutex_);
}

void TaskThread::Run() {
  while (true) {
    std::function<void()> task;
    {
      base::MutexLock lock(mutex_);
      busy_ = false;
      if (tasks_.empty()) changed_.NotifyAll();
      while (tasks_.empty() && !ending_) changed_.Wait(mutex_);
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      busy_ = true;
    }
    task();
  }
}

}  // namespace galley::director
