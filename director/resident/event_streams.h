// EventStreams: the open streams of `changes`, by session.
//
// Threads: any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "director/devices/change_event.h"
#include "director/resident/shared_sessions.h"
#include "director/serve/device_calls.h"

namespace galley::director {

class EventStreams {
 public:
  // `shared` outlives this object, `now` too.
  EventStreams(SharedSessions& shared, std::function<absl::Time()> now)
      : shared_(shared), now_(std::move(now)) {}

  // DeviceCalls::ReadChanges.
  EventsAnswer Open(const std::string& id, const std::optional<std::string>& last_event_id);
  // The streams of these sessions may have something to take.
  void Wake(const std::vector<std::string>& sessions);
  void WakeAll();
  // Ends all streams.
  void End();
  size_t size() const;

 private:
  // Waker: calls the wake function of a stream, until the stream is gone.
  struct Waker {
    base::Mutex mutex;
    std::function<void()> wake
        GALLEY_GUARDED_BY(mutex);  // null: none was set, or the stream is gone
    void Wake() {
      base::MutexLock lock(mutex);
      if (wake) wake();
    }
  };
  class Stream;

  std::vector<std::shared_ptr<Waker>> WakersOf(const std::string& session) const;
  void Remove(const std::string& session, const std::shared_ptr<Waker>& waker);
  bool has_ended() const;

  SharedSessions& shared_;
  const std::function<absl::Time()> now_;
  mutable base::Mutex mutex_;
  bool has_ended_ GALLEY_GUARDED_BY(mutex_) = false;
  std::multimap<std::string, std::shared_ptr<Waker>> wakers_ GALLEY_GUARDED_BY(mutex_);
};

}  // namespace galley::director
