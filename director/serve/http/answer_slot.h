// AnswerSlot: where a connection finds the answer of a face.
// Threads: any.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/mutex.h"
#include "director/serve/http/http_responder.h"
#include "director/serve/http/loop_parts.h"

namespace galley::director {

class AnswerSlot {
 public:
  // `notify` runs on the loop's thread.
  AnswerSlot(std::shared_ptr<LoopGate> gate, std::function<void()> notify)
      : gate_(std::move(gate)), notify_(std::move(notify)) {}

  void Put(HttpAnswer answer) {
    const base::MutexLock lock(mutex_);
    answer_ = std::move(answer);
    if (is_awaited_) gate_->Post(notify_);
  }
  // nullopt: there is none yet, and `notify` will be called when there is.
  std::optional<HttpAnswer> Take() {
    const base::MutexLock lock(mutex_);
    is_awaited_ = !answer_.has_value();
    return std::exchange(answer_, std::nullopt);
  }

 private:
  const std::shared_ptr<LoopGate> gate_;
  const std::function<void()> notify_;
  base::Mutex mutex_;
  std::optional<HttpAnswer> answer_ GALLEY_GUARDED_BY(mutex_);
  bool is_awaited_ GALLEY_GUARDED_BY(mutex_) = false;
};

// AwaitedAnswer: an exchange that puts its answer into a slot. Its end tells the responders that
// nobody waits any more.
class AwaitedAnswer {
 public:
  AwaitedAnswer(std::shared_ptr<LoopGate> gate, std::function<void()> notify)
      : slot_(std::make_shared<AnswerSlot>(std::move(gate), std::move(notify))),
        exchange_(std::make_shared<HttpExchange>(
            [slot = slot_](HttpAnswer answer) { slot->Put(std::move(answer)); })) {}
  ~AwaitedAnswer() { exchange_->Leave(); }
  AwaitedAnswer(const AwaitedAnswer&) = delete;
  AwaitedAnswer& operator=(const AwaitedAnswer&) = delete;

  HttpResponder MakeResponder() const { return HttpResponder(exchange_); }
  // The answer, by AnswerSlot::Take.
  std::optional<HttpAnswer> Take() { return slot_->Take(); }

 private:
  const std::shared_ptr<AnswerSlot> slot_;
  const std::shared_ptr<HttpExchange> exchange_;
};

}  // namespace galley::director
