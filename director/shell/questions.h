// Questions: passes people's questions about packages of running cooks to the core, which answers
// on the loop thread.
//
// Threads: Ask: any but the loop's; the other functions: the loop's.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "director/core/cook_core.h"
#include "director/core/effects.h"
#include "director/shell/active_cooks.h"
#include "director/shell/inbox.h"
#include "galley/v1/worker.pb.h"

namespace galley::director {

class Questions {
 public:
  // Everything in Deps outlives Questions.
  struct Deps {
    const CookCore& core;
    Inbox& inbox;
    const ActiveCooks& cooks;
    std::function<std::string(WorkerId worker)> name_of;
  };
  explicit Questions(Deps deps) : deps_(std::move(deps)) {}

  // Asks the core, and waits. UNAVAILABLE: the director is busy, or about to end;
  // FAILED_PRECONDITION: no cook runs; NOT_FOUND: no such package; ABORTED: the previous page is
  // from another cook.
  absl::StatusOr<v1::PackageAnswer> Ask(const v1::PackageQuestion& question);
  void TakeReply(const Reply& effect) { reply_ = effect; }

 private:
  absl::StatusOr<v1::PackageAnswer> AskCore(const v1::PackageQuestion& question);
  v1::PackageAnswer AnswerOf(const Reply& reply) const;

  const Deps deps_;
  std::optional<Reply> reply_;
};

}  // namespace galley::director
