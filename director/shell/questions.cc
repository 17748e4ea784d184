#include "director/shell/questions.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "common/base/mutex.h"
#include "director/core/packages/instigators.h"
#include "director/core/packages/package_data.h"

namespace galley::director {
namespace {

constexpr std::chrono::seconds kAnswerWait{5};

using Answered = absl::StatusOr<v1::PackageAnswer>;

// Awaited: the answer that a thread waits for.
class Awaited {
 public:
  void Give(Answered answer) {
    const base::MutexLock lock(mutex_);
    if (answer_.has_value()) return;
    answer_ = std::move(answer);
    changed_.NotifyAll();
  }
  Answered Wait() {
    base::MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + kAnswerWait;
    while (!answer_.has_value()) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) return absl::UnavailableError("the director is too busy to answer");
      changed_.WaitFor(mutex_, left);
    }
    return *std::move(answer_);
  }

 private:
  base::Mutex mutex_;
  base::CondVar changed_;
  std::optional<Answered> answer_ GALLEY_GUARDED_BY(mutex_);
};

// Carried: goes with the message that carries the question, and answers when the message is
// dropped.
class Carried {
 public:
  explicit Carried(std::shared_ptr<Awaited> awaited) : awaited_(std::move(awaited)) {}
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;
  ~Carried() { awaited_->Give(absl::UnavailableError("the cook is about to end")); }
  void Give(Answered answer) { awaited_->Give(std::move(answer)); }

 private:
  const std::shared_ptr<Awaited> awaited_;
};

}  // namespace

absl::StatusOr<v1::PackageAnswer> Questions::Ask(const v1::PackageQuestion& question) {
  const auto awaited = std::make_shared<Awaited>();
  deps_.inbox.PostTask([this, question, carried = std::make_shared<Carried>(awaited)] {
    carried->Give(AskCore(question));
  });
  return awaited->Wait();
}

absl::StatusOr<v1::PackageAnswer> Questions::AskCore(const v1::PackageQuestion& question) {
  if (deps_.cooks.empty()) return absl::FailedPreconditionError("no cook runs");
  QueryAsked ask{.package = question.package(),
                 .cursor = {.cook = question.cook(), .reason = question.reason()}};
  if (question.limit() > 0) ask.limit = question.limit();
  reply_.reset();
  deps_.inbox.HandleNow(ask);
  if (!reply_.has_value()) return absl::InternalError("the core did not answer");
  const Reply reply = *std::exchange(reply_, std::nullopt);
  if (!reply.error.empty() && question.cook() != 0) return absl::AbortedError(reply.error);
  if (!reply.error.empty()) return absl::NotFoundError(reply.error);
  return AnswerOf(reply);
}

v1::PackageAnswer Questions::AnswerOf(const Reply& reply) const {
  v1::PackageAnswer answer;
  answer.set_state(reply.package->state);
  answer.set_urgency(std::string(UrgencyName(reply.package->urgency)));
  if (reply.package->worker.valid()) answer.set_worker(deps_.name_of(reply.package->worker));
  answer.set_attempt(reply.package->attempt);
  answer.set_attempts(reply.package->attempts);
  answer.set_own_faults(reply.package->own_faults);
  answer.set_infrastructure_faults(reply.package->infrastructure_faults);
  for (const Reply::Reason& reason : reply.reasons) {
    v1::PackageAnswer::Reason& out = *answer.add_reasons();
    out.set_category(static_cast<uint32_t>(reason.why.category));
    if (reason.why.referencer.valid()) out.set_referencer(deps_.core.NameOf(reason.why.referencer));
  }
  if (reply.next.has_value()) {
    answer.set_next_cook(reply.next->cook);
    answer.set_next_reason(reply.next->reason);
  }
  return answer;
}

}  // namespace galley::director
