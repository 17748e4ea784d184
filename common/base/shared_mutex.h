// SharedMutex: a reader-writer lock over std::shared_mutex, for the reason in mutex.h.
#pragma once

#include <shared_mutex>

#include "common/base/mutex.h"

#define GALLEY_ACQUIRE_SHARED(...) GALLEY_THREAD_ANNOTATION(acquire_shared_capability(__VA_ARGS__))
#define GALLEY_REQUIRES_SHARED(...) \
  GALLEY_THREAD_ANNOTATION(requires_shared_capability(__VA_ARGS__))
#define GALLEY_RELEASE_SHARED(...) GALLEY_THREAD_ANNOTATION(release_shared_capability(__VA_ARGS__))

namespace galley::base {

class GALLEY_CAPABILITY("shared mutex") SharedMutex {
 public:
  void lock() GALLEY_ACQUIRE() { mutex_.lock(); }
  void unlock() GALLEY_RELEASE() { mutex_.unlock(); }
  void lock_shared() GALLEY_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void unlock_shared() GALLEY_RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class GALLEY_SCOPED_CAPABILITY ExclusiveLock {
 public:
  explicit ExclusiveLock(SharedMutex& mutex) GALLEY_ACQUIRE(mutex) : mutex_(mutex) {
    mutex_.lock();
  }
  ~ExclusiveLock() GALLEY_RELEASE() { mutex_.unlock(); }
  ExclusiveLock(const ExclusiveLock&) = delete;
  ExclusiveLock& operator=(const ExclusiveLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class GALLEY_SCOPED_CAPABILITY SharedLock {
 public:
  explicit SharedLock(SharedMutex& mutex) GALLEY_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~SharedLock() GALLEY_RELEASE() { mutex_.unlock_shared(); }
  SharedLock(const SharedLock&) = delete;
  SharedLock& operator=(const SharedLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace galley::base
