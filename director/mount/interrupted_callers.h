// InterruptedCallers: ends the waits of callers that are being killed, and of no others.
//
// The kernel tells once that a caller got a signal, whatever it is: also one with a handler, such
// as a timer's, or that of Go's scheduler, after which the caller waits on. A wait that ended then
// would be begun again by the caller, and its cook, too, without an end. So a caller that was
// interrupted is looked at until its wait has ended: one that dies has SIGKILL pending (any signal
// that ends a process comes to that), or is gone.
//
// Threads: any.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace galley::mount {

// Says whether the thread, by its number as the kernel tells it to a file system, dies or is gone.
// True also for 0: it is in another namespace, and nothing can be seen of it.
bool IsDying(pid_t thread);

class InterruptedCallers {
 public:
  // `is_dying`: IsDying, or what a test says.
  explicit InterruptedCallers(std::function<bool(pid_t thread)> is_dying = &IsDying)
      : is_dying_(std::move(is_dying)) {}
  ~InterruptedCallers() { Stop(); }

  // Calls `end` once if the thread dies, until `is_over`. Both are short, and may be called on this
  // thread and on another one.
  struct Caller {
    pid_t thread = 0;
    std::function<bool()> is_over;
    std::function<void()> end;
  };
  void Add(Caller caller);
  void Stop();

 private:
  void Look();
  bool IsDone(const Caller& caller) const;

  const std::function<bool(pid_t thread)> is_dying_;
  std::mutex mutex_;
  std::condition_variable added_;
  std::vector<Caller> callers_;  // guarded by mutex_
  bool has_stopped_ = false;     // guarded by mutex_
  std::thread looks_;            // begun by the first caller
};

}  // namespace galley::mount
