// CallHandler: handles one call of a method, without the wire: messages in, steps out. The server
// (reapi_server.h) carries the steps out; tests call the functions directly.
//
// Threads: one function at a time, on threads that may wait for the disk. A handler is destroyed
// after its call has ended in any way; no function runs then.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/store/interface/store.h"

namespace galley::store {

struct Step {
  enum class Next {
    kRead,      // OnMessage with the next message, or OnHalfClose
    kContinue,  // OnContinue
    kWait,      // nothing, until the caller goes away
    kEnd,       // the call ends with `status`
  };
  // Committed first, so that puts are durable when the client gets the reply. An error of the
  // commit ends the call.
  std::optional<CommitBatch> commit;
  std::optional<std::string> reply;  // sent before `next`
  Next next = Next::kEnd;
  absl::Status status;
};

class CallHandler {
 public:
  virtual ~CallHandler() = default;
  virtual Step OnMessage(std::string_view message) = 0;
  // Called when the client sends nothing more.
  virtual Step OnHalfClose() {
    return Step{.status = absl::InvalidArgumentError("expected a request, there was none")};
  }
  // Called after a step with kContinue, when its reply was taken.
  virtual Step OnContinue() { return Step{}; }
};

// UnaryHandler: handles a call with one request and one reply.
class UnaryHandler final : public CallHandler {
 public:
  struct Answer {
    std::string reply;
    std::optional<CommitBatch> commit;
  };
  explicit UnaryHandler(std::function<absl::StatusOr<Answer>(std::string_view)> answer)
      : answer_(std::move(answer)) {}

  Step OnMessage(std::string_view message) override {
    absl::StatusOr<Answer> answer = answer_(message);
    if (!answer.ok()) return Step{.status = answer.status()};
    return Step{.commit = std::move(answer->commit), .reply = std::move(answer->reply)};
  }

 private:
  const std::function<absl::StatusOr<Answer>(std::string_view)> answer_;
};

}  // namespace galley::store
