// TaskPool: a fixed number of threads for work that may wait for the disk, with a bounded queue.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "common/base/mutex.h"

namespace galley::store {

class TaskPool {
 public:
  TaskPool(size_t threads, size_t waiting_max);
  // Runs the waiting tasks, and joins the threads.
  ~TaskPool();

  // False: the queue is full. Tasks start in the order of Post, several at a time.
  bool Post(std::function<void()> task);

 private:
  void Work();

  const size_t waiting_max_;
  base::Mutex mutex_;
  base::CondVar changed_;
  std::deque<std::function<void()>> waiting_ GALLEY_GUARDED_BY(mutex_);
  bool is_ending_ GALLEY_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace galley::store
