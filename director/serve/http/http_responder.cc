#include "director/serve/http/http_responder.h"

#include <utility>

#include "director/serve/http/http_problem.h"

namespace galley::director {

void HttpExchange::Answer(HttpAnswer answer) {
  Send send;
  std::function<void()> unused;  // destroyed without the lock
  {
    const base::MutexLock lock(mutex_);
    if (state_ != State::kAwaited) return;
    state_ = State::kAnswered;
    send = std::exchange(send_, nullptr);
    unused = std::exchange(on_leave_, nullptr);
  }
  send(std::move(answer));
}

void HttpExchange::OnLeave(std::function<void()> hook) {
  {
    const base::MutexLock lock(mutex_);
    if (state_ == State::kAnswered) return;
    if (state_ == State::kAwaited) {
      std::swap(on_leave_, hook);
      return;
    }
  }
  hook();
}

void HttpExchange::Leave() {
  Send unused;
  std::function<void()> hook;
  {
    const base::MutexLock lock(mutex_);
    if (state_ != State::kAwaited) return;
    state_ = State::kLeft;
    unused = std::exchange(send_, nullptr);
    hook = std::exchange(on_leave_, nullptr);
  }
  if (hook) hook();
}

bool HttpExchange::IsAwaited() {
  const base::MutexLock lock(mutex_);
  return state_ == State::kAwaited;
}

HttpResponder::HttpResponder(std::shared_ptr<HttpExchange> exchange)
    : promise_(std::make_shared<const Promise>(std::move(exchange))) {}

// Nearly every request was answered, and the text of a problem costs as much as a small answer.
HttpResponder::Promise::~Promise() {
  if (!exchange->IsAwaited()) return;
  exchange->Answer(MakeProblem({.status = 500, .text = "The request was not answered."}));
}

}  // namespace galley::director
