#include "director/resident/event_streams.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"
#include "director/resident/store_answers.h"

namespace galley::director {

class EventStreams::Stream final : public DeviceEvents {
 public:
  Stream(EventStreams& of, std::string session, std::shared_ptr<Waker> waker,
         std::optional<devices::EventId> after)
      : of_(of), session_(std::move(session)), waker_(std::move(waker)), after_(after) {}
  ~Stream() override {
    {
      base::MutexLock lock(waker_->mutex);
      waker_->wake = nullptr;
    }
    of_.Remove(session_, waker_);
    of_.shared_.With(
        [&](devices::DeviceSessions& sessions) { sessions.EndStream(session_, of_.now_()); });
  }

  void SetWake(std::function<void()> wake) override {
    base::MutexLock lock(waker_->mutex);
    waker_->wake = std::move(wake);
  }

  std::optional<std::vector<devices::ChangeEventPtr>> Take(size_t events_max) override {
    if (of_.has_ended()) return std::nullopt;
    auto events = of_.shared_.EventsSince(session_, after_);
    if (!events.ok()) return std::nullopt;
    if (events->size() > events_max) events->resize(events_max);
    if (!events->empty()) after_ = events->back()->id;
    return *std::move(events);
  }

 private:
  EventStreams& of_;
  const std::string session_;
  const std::shared_ptr<Waker> waker_;
  std::optional<devices::EventId> after_;  // nullopt: behind the opening of the session
};

EventsAnswer EventStreams::Open(const std::string& id,
                                const std::optional<std::string>& last_event_id) {
  if (has_ended()) return NotReady("the director ends");
  if (const absl::Status begun = shared_.BeginStream(id, now_()); !begun.ok())
    return RefusalOf(begun);
  std::optional<devices::EventId> after;
  // An id that nobody gave: the session gets a snapshot.
  if (last_event_id) after = devices::ParseEventId(*last_event_id).value_or(devices::EventId());
  auto waker = std::make_shared<Waker>();
  {
    base::MutexLock lock(mutex_);
    wakers_.emplace(id, waker);
  }
  return std::make_unique<Stream>(*this, id, std::move(waker), after);
}

std::vector<std::shared_ptr<EventStreams::Waker>> EventStreams::WakersOf(
    const std::string& session) const {
  std::vector<std::shared_ptr<Waker>> wakers;
  base::MutexLock lock(mutex_);
  const auto [begin, end] = wakers_.equal_range(session);
  for (auto at = begin; at != end; ++at) wakers.push_back(at->second);
  return wakers;
}

void EventStreams::Wake(const std::vector<std::string>& sessions) {
  for (const std::string& session : sessions) {
    for (const std::shared_ptr<Waker>& waker : WakersOf(session)) waker->Wake();
  }
}

void EventStreams::WakeAll() {
  std::vector<std::string> sessions;
  {
    base::MutexLock lock(mutex_);
    for (const auto& [session, waker] : wakers_) {
      if (sessions.empty() || sessions.back() != session) sessions.push_back(session);
    }
  }
  Wake(sessions);
}

void EventStreams::End() {
  {
    base::MutexLock lock(mutex_);
    has_ended_ = true;
  }
  WakeAll();
}

void EventStreams::Remove(const std::string& session, const std::shared_ptr<Waker>& waker) {
  base::MutexLock lock(mutex_);
  const auto [begin, end] = wakers_.equal_range(session);
  const auto found = std::find_if(begin, end, [&](const auto& one) { return one.second == waker; });
  if (found != end) wakers_.erase(found);
}

bool EventStreams::has_ended() const {
  base::MutexLock lock(mutex_);
  return has_ended_;
}

size_t EventStreams::size() const {
  base::MutexLock lock(mutex_);
  return wakers_.size();
}

}  // namespace galley::director
