#include "common/store/reapi/client/retry.h"

#include <algorithm>

namespace galley::store {

bool IsWorthRetrying(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kCancelled:
      return true;
    default:
      return false;
  }
}

RetrySchedule::RetrySchedule(const RetryOptions& options, uint64_t seed)
    : options_(options), random_(seed), next_(options.first) {}

std::optional<absl::Duration> RetrySchedule::Next(const absl::Status& status,
                                                  std::optional<absl::Duration> hint) {
  if (++tries_ >= options_.tries_max || !IsWorthRetrying(status.code())) return std::nullopt;
  // 53 bits, as a double holds; the library's distributions differ between libraries.
  const double drawn = static_cast<double>(random_() >> 11) / static_cast<double>(1ull << 53);
  absl::Duration wait = next_ * (1 + options_.jitter * (2 * drawn - 1));
  next_ = std::min(next_ * options_.factor, options_.most);
  if (hint) wait = std::max(wait, std::min(*hint, options_.hint_max));
  return wait;
}

}  // namespace galley::store
