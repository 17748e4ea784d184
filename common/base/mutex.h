// Mutex over std::mutex with thread annotations. absl::Mutex is not used: ThreadSanitizer cannot
// see into the packaged library and reports false races.
#pragma once

#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define GALLEY_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define GALLEY_THREAD_ANNOTATION(x)
#endif
#define GALLEY_CAPABILITY(x) GALLEY_THREAD_ANNOTATION(capability(x))
#define GALLEY_SCOPED_CAPABILITY GALLEY_THREAD_ANNOTATION(scoped_lockable)
#define GALLEY_GUARDED_BY(x) GALLEY_THREAD_ANNOTATION(guarded_by(x))
#define GALLEY_REQUIRES(...) GALLEY_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define GALLEY_ACQUIRE(...) GALLEY_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define GALLEY_RELEASE(...) GALLEY_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
// Marks a function that returns a member mutex.
#define GALLEY_RETURN_CAPABILITY(x) GALLEY_THREAD_ANNOTATION(lock_returned(x))
#define GALLEY_EXCLUDES(...) GALLEY_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace galley::base {

class GALLEY_CAPABILITY("mutex") Mutex {
 public:
  void lock() GALLEY_ACQUIRE() { mutex_.lock(); }
  void unlock() GALLEY_RELEASE() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

class GALLEY_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) GALLEY_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() GALLEY_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

// A condition variable that waits on a Mutex held by the caller. Always wait in a loop on the
// condition.
class CondVar {
 public:
  void Wait(Mutex& mutex) GALLEY_REQUIRES(mutex) { variable_.wait(mutex); }
  // False when `timeout` passed.
  template <typename Duration>
  bool WaitFor(Mutex& mutex, Duration timeout) GALLEY_REQUIRES(mutex) {
    return variable_.wait_for(mutex, timeout) == std::cv_status::no_timeout;
  }
  void NotifyOne() { variable_.notify_one(); }
  void NotifyAll() { variable_.notify_all(); }

 private:
  std::condition_variable_any variable_;
};

}  // namespace galley::base
