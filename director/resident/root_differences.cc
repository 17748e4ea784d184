#include "director/resident/root_differences.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/time/time.h"
#include "director/resident/root_difference.h"
#include "director/resident/waiting_call.h"

namespace galley::director {

RootDifferences::RootDifferences(tree::ReadBlob read, std::unique_ptr<EndingTasks> pool)
    : read_(std::move(read)), timed_(std::move(pool), [](absl::Time) {}) {}

DeviceCallPtr RootDifferences::Compare(const Digest& older, const Digest& newer,
                                       DeviceCalls::OnDifference answer) {
  auto call = std::make_shared<DifferenceCall>(std::move(answer));
  if (auto kept = FindKept(older, newer)) {
    call->Give(*std::move(kept));
    return call;
  }
  timed_.Run(call, absl::InfiniteFuture(), [this, older, newer](const Cancellation& stop) {
    return AnswerOf(older, newer, stop);
  });
  return call;
}

DifferenceAnswer RootDifferences::AnswerOf(const Digest& older, const Digest& newer,
                                           const Cancellation& stop) {
  if (auto kept = FindKept(older, newer)) return *std::move(kept);
  DifferenceAnswer answer = CompareRoots(older, newer, read_, stop);
  const auto* const difference = std::get_if<RootDifference>(&answer);
  if (difference != nullptr && !FindKept(older, newer)) {  // another thread may have it by now
    base::MutexLock lock(mutex_);
    kept_.push_front({.older = older, .newer = newer, .difference = *difference});
    if (kept_.size() > kKeptMax) kept_.pop_back();
  }
  return answer;
}

std::optional<RootDifference> RootDifferences::FindKept(const Digest& older,
                                                        const Digest& newer) const {
  base::MutexLock lock(mutex_);
  const auto kept = std::ranges::find_if(
      kept_, [&](const Kept& one) { return one.older == older && one.newer == newer; });
  return kept == kept_.end() ? std::nullopt : std::optional(kept->difference);
}

}  // namespace galley::director
