// TimedCalls: calls whose work blocks, on a pool of threads: each ends at its deadline, when its
// client leaves, or at the end of all.
//
// Threads: any; End: one.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "common/base/cancellation.h"
#include "common/base/mutex.h"
#include "director/resident/device_threads.h"
#include "director/resident/waiting_call.h"
#include "director/serve/device_calls.h"

namespace galley::director {

class TimedCalls {
 public:
  // `wake_at` is called when Expire is to be called at that time.
  TimedCalls(std::unique_ptr<EndingTasks> pool, std::function<void(absl::Time at)> wake_at)
      : wake_at_(std::move(wake_at)), pool_(std::move(pool)) {}

  // Runs `work`, which gives the answer, and is to end soon when its argument is cancelled.
  template <typename Answer>
  void Run(const std::shared_ptr<WaitingCall<Answer>>& call, absl::Time deadline,
           std::type_identity_t<std::function<Answer(const Cancellation& stop)>> work) {
    Start(call, deadline,
          [call, work = std::move(work)](const Cancellation& stop) { call->Give(work(stop)); });
  }
  // Runs `work`, which sees to it that somebody gives the answer, maybe later. The deadline, and
  // the end of all, hold for the call until it has its answer.
  template <typename Answer>
  void Start(const std::shared_ptr<WaitingCall<Answer>>& call, absl::Time deadline,
             std::function<void(const Cancellation& stop)> work) {
    auto stop = std::make_shared<Cancellation>();
    Timed timed{.stop = stop, .refuse = [weak = std::weak_ptr(call)](const DeviceRefusal& refusal) {
                  if (const auto waiting = weak.lock()) waiting->Give(refusal);
                }};
    call->OnCancel([stop] { stop->Cancel(); });
    const bool is_posted = Post(deadline, timed, [call, stop, work = std::move(work)] {
      if (!call->is_over()) work(*stop);
    });
    if (!is_posted) return call->Give(ended_);
    if (deadline < absl::InfiniteFuture()) wake_at_(deadline);
  }

  // Ends the calls whose deadlines have passed.
  void Expire(absl::Time now);
  absl::Time due_at() const;
  // Refuses all calls, now and later, and waits for their work.
  void End(const DeviceRefusal& refusal);

 private:
  struct Timed {
    std::weak_ptr<Cancellation> stop;
    std::function<void(const DeviceRefusal& refusal)> refuse;
    void End(const DeviceRefusal& refusal) const {
      if (const auto cancelled = stop.lock()) cancelled->Cancel();
      refuse(refusal);
    }
  };

  // False: the end has come.
  bool Post(absl::Time deadline, const Timed& timed, std::function<void()> task);
  void DropOver() GALLEY_REQUIRES(mutex_);

  const std::function<void(absl::Time at)> wake_at_;
  mutable base::Mutex mutex_;
  bool has_ended_ GALLEY_GUARDED_BY(mutex_) = false;
  size_t noted_ GALLEY_GUARDED_BY(mutex_) = 0;  // since the last DropOver
  std::multimap<absl::Time, Timed> timed_ GALLEY_GUARDED_BY(mutex_);
  DeviceRefusal ended_;                      // written by End, before has_ended_
  const std::unique_ptr<EndingTasks> pool_;  // used under mutex_, and by End
};

}  // namespace galley::director
