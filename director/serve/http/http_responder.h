// HttpResponder: answers one request, now or minutes later, from any thread.
//
//   void Face::Answer(HttpRequest request, HttpResponder responder) {
//     const ClaimId claim = claims_.Open(path, [responder](Cooked cooked) {
//       responder.Answer(AnswerOf(cooked));
//     });
//     responder.OnLeave([this, claim] { claims_.Close(claim); });
//   }
//
// Copies answer the same request. The first answer counts. When the last copy goes without an
// answer, the client gets a 500.
//
// HttpExchange is what the client's side and the responders share. A door makes one for each
// request; a test of a face makes one to see what the face answers.
// Threads: any. No hook runs under a lock.
#pragma once

#include <functional>
#include <memory>

#include "common/base/mutex.h"
#include "director/serve/http/http_answer.h"

namespace galley::director {

class HttpExchange {
 public:
  // Gets the answer, on the thread that gives it; called at most once.
  using Send = std::function<void(HttpAnswer)>;
  explicit HttpExchange(Send send) : send_(std::move(send)) {}

  // Does nothing after another Answer or after Leave.
  void Answer(HttpAnswer answer) GALLEY_EXCLUDES(mutex_);
  // `hook` is called when the client leaves before the answer, or at once if it has left.
  void OnLeave(std::function<void()> hook) GALLEY_EXCLUDES(mutex_);
  // The client waits no longer: runs the hook. Does nothing after Answer or another Leave.
  void Leave() GALLEY_EXCLUDES(mutex_);
  // True: neither Answer nor Leave was called.
  bool IsAwaited() GALLEY_EXCLUDES(mutex_);

 private:
  enum class State { kAwaited, kAnswered, kLeft };

  base::Mutex mutex_;
  State state_ GALLEY_GUARDED_BY(mutex_) = State::kAwaited;
  Send send_ GALLEY_GUARDED_BY(mutex_);
  std::function<void()> on_leave_ GALLEY_GUARDED_BY(mutex_);
};

class HttpResponder {
 public:
  explicit HttpResponder(std::shared_ptr<HttpExchange> exchange);

  void Answer(HttpAnswer answer) const { promise_->exchange->Answer(std::move(answer)); }
  // `hook` runs at most once, when the client leaves or the door stops before an answer is given;
  // at once, on this thread, if that has happened. It must be short, and may run beside an Answer
  // of another thread. Only the last hook that was given runs. A hook must not hold a copy of this
  // responder: nobody would see that the last copy goes.
  void OnLeave(std::function<void()> hook) const { promise_->exchange->OnLeave(std::move(hook)); }

 private:
  // Promise: answers when nobody did.
  struct Promise {
    explicit Promise(std::shared_ptr<HttpExchange> given) : exchange(std::move(given)) {}
    ~Promise();
    Promise(const Promise&) = delete;
    Promise& operator=(const Promise&) = delete;
    const std::shared_ptr<HttpExchange> exchange;
  };
  std::shared_ptr<const Promise> promise_;
};

}  // namespace galley::director
