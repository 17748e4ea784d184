// FakeDevices: DeviceCalls that a test fills. Things have names:
//
//   "linux/Game/a.png.ktx2"            a file of the present world
//   "s1/Game/a.png.ktx2"               a file of the session s1
//   "<hex>/<size>/Game/a.png.ktx2"     a file of a root
//   "<hex>/<size>"                     a blob
//   "<hex>/<size>.ktx2"                an output of a record
//
// Calls for things that have no answer wait until Set gives one.
// Threads: any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "director/serve/device_calls.h"

namespace galley::director {

// FakeEvents: gives the events that were pushed, and ends when a test says so.
class FakeEvents final : public DeviceEvents {
 public:
  struct State {
    base::Mutex mutex;
    std::vector<devices::ChangeEventPtr> events GALLEY_GUARDED_BY(mutex);
    std::function<void()> wake GALLEY_GUARDED_BY(mutex);
    bool is_over GALLEY_GUARDED_BY(mutex) = false;
    bool has_reader GALLEY_GUARDED_BY(mutex) = false;
  };
  explicit FakeEvents(std::shared_ptr<State> state) : state_(std::move(state)) {
    const base::MutexLock lock(state_->mutex);
    state_->has_reader = true;
  }
  ~FakeEvents() override {
    const base::MutexLock lock(state_->mutex);
    state_->has_reader = false;
    state_->wake = nullptr;
  }
  void SetWake(std::function<void()> wake) override {
    const base::MutexLock lock(state_->mutex);
    state_->wake = std::move(wake);
  }
  std::optional<std::vector<devices::ChangeEventPtr>> Take(size_t events_max) override {
    const base::MutexLock lock(state_->mutex);
    if (state_->events.empty() && state_->is_over) return std::nullopt;
    std::vector<devices::ChangeEventPtr> taken;
    while (!state_->events.empty() && taken.size() < events_max) {
      taken.push_back(state_->events.front());
      state_->events.erase(state_->events.begin());
    }
    return taken;
  }

 private:
  const std::shared_ptr<State> state_;
};

class FakeDevices final : public DeviceCalls {
 public:
  // Answers the calls that wait for `name`, and all later ones.
  void Set(const std::string& name, DeviceAnswer answer) {
    std::vector<OnFile> waiting;
    {
      const base::MutexLock lock(mutex_);
      for (const std::shared_ptr<Call>& call : calls_) {
        if (call->name == name && call->on_file)
          waiting.push_back(std::exchange(call->on_file, nullptr));
      }
      answers_[name] = answer;
    }
    for (const OnFile& on_file : waiting) on_file(answer);
  }
  void SetRecord(RecordAnswer answer) { record_ = std::move(answer); }
  void SetDifference(DifferenceAnswer answer) { difference_ = std::move(answer); }
  void SetSession(SessionAnswer answer) { session_ = std::move(answer); }
  // Has ReadChanges refuse; until then it gives a reader of `events`.
  void RefuseChanges(DeviceRefusal refusal) { changes_refusal_ = std::move(refusal); }
  void Push(devices::ChangeEvent event) {
    std::function<void()> wake;
    {
      const base::MutexLock lock(events->mutex);
      events->events.push_back(std::make_shared<const devices::ChangeEvent>(std::move(event)));
      wake = events->wake;
    }
    if (wake) wake();
  }

  // Forgets the calls that wait, and answers none of them.
  void DropWaiting() {
    std::vector<std::shared_ptr<Call>> dropped;  // destroyed without the lock
    const base::MutexLock lock(mutex_);
    dropped.swap(calls_);
  }

  // The calls that wait, and those that were cancelled before their answer.
  int waiting() const {
    const base::MutexLock lock(mutex_);
    int count = 0;
    for (const auto& call : calls_) count += call->on_file ? 1 : 0;
    return count;
  }
  int cancelled() const {
    const base::MutexLock lock(mutex_);
    return cancelled_;
  }

  DeviceCallPtr ReadPresent(PresentRead read, OnFile answer) override {
    const std::string name = read.platform + "/" + read.path;
    present = std::move(read);
    return Begin(name, std::move(answer));
  }
  DeviceCallPtr ReadInSession(SessionRead read, OnFile answer) override {
    const std::string name = read.session + "/" + read.path;
    in_session = std::move(read);
    return Begin(name, std::move(answer));
  }
  DeviceCallPtr ReadInRoot(const Digest& root, std::string path, OnFile answer) override {
    return Begin(root.ToString() + "/" + path, std::move(answer));
  }
  DeviceCallPtr CompareRoots(const Digest& older, const Digest& newer,
                             OnDifference answer) override {
    compared = {older, newer};
    answer(difference_);
    return std::make_shared<Done>();
  }
  DeviceCallPtr ReadBlob(const Digest& digest, OnFile answer) override {
    return Begin(digest.ToString(), std::move(answer));
  }
  DeviceCallPtr ReadRecord(const Digest&, OnRecord answer) override {
    answer(record_);
    return std::make_shared<Done>();
  }
  DeviceCallPtr ReadRecordOutput(const Digest& action_key, std::string suffix, absl::Duration,
                                 OnFile answer) override {
    return Begin(action_key.ToString() + suffix, std::move(answer));
  }
  DeviceCallPtr OpenSession(SessionAsk ask, absl::Duration, OnSession answer) override {
    asked = std::move(ask);
    answer(session_);
    return std::make_shared<Done>();
  }
  SessionAnswer RenewSession(const std::string&) override { return session_; }
  std::optional<DeviceRefusal> CloseSession(const std::string& id) override {
    closed.push_back(id);
    const auto* const refusal = std::get_if<DeviceRefusal>(&session_);
    return refusal == nullptr ? std::nullopt : std::optional(*refusal);
  }
  EventsAnswer ReadChanges(const std::string&,
                           const std::optional<std::string>& last_event_id) override {
    last_id = last_event_id;
    if (changes_refusal_) return *changes_refusal_;
    return std::make_unique<FakeEvents>(events);
  }

  void NoteLost(const Digest& digest) override {
    const base::MutexLock lock(mutex_);
    lost_.push_back(digest);
  }
  std::vector<Digest> lost() const {
    const base::MutexLock lock(mutex_);
    return lost_;
  }

  // The last calls, for tests without threads.
  std::optional<PresentRead> present;
  std::optional<SessionRead> in_session;
  std::optional<SessionAsk> asked;
  std::optional<std::string> last_id;
  std::optional<std::pair<Digest, Digest>> compared;
  std::vector<std::string> closed;
  const std::shared_ptr<FakeEvents::State> events = std::make_shared<FakeEvents::State>();

 private:
  struct Done final : DeviceCall {
    void Cancel() override {}
  };
  struct Call final : DeviceCall {
    Call(FakeDevices& owner, std::string of, OnFile answer)
        : devices(owner), name(std::move(of)), on_file(std::move(answer)) {}
    void Cancel() override {
      OnFile dropped;  // destroyed without the lock
      const base::MutexLock lock(devices.mutex_);
      if (on_file) ++devices.cancelled_;
      std::swap(dropped, on_file);
    }
    FakeDevices& devices;
    const std::string name;
    OnFile on_file;
  };

  DeviceCallPtr Begin(const std::string& name, OnFile answer) {
    std::optional<DeviceAnswer> known;
    auto call = std::make_shared<Call>(*this, name, answer);
    {
      const base::MutexLock lock(mutex_);
      const auto found = answers_.find(name);
      if (found != answers_.end()) known = found->second;
      if (!known) calls_.push_back(call);
    }
    if (known) {
      call->on_file = nullptr;
      answer(*known);
    }
    return call;
  }

  mutable base::Mutex mutex_;
  std::map<std::string, DeviceAnswer> answers_ GALLEY_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Call>> calls_ GALLEY_GUARDED_BY(mutex_);
  int cancelled_ GALLEY_GUARDED_BY(mutex_) = 0;
  std::vector<Digest> lost_ GALLEY_GUARDED_BY(mutex_);
  RecordAnswer record_ = DeviceRefusal{};
  SessionAnswer session_ = DeviceRefusal{};
  DifferenceAnswer difference_ = DeviceRefusal{};
  std::optional<DeviceRefusal> changes_refusal_;
};

}  // namespace galley::director
