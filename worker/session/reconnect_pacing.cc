#include "worker/session/reconnect_pacing.h"

#include <algorithm>

namespace galley::worker {

absl::Duration ReconnectPacing::Next(bool was_answered, absl::Duration told) {
  constexpr int64_t kParts = 1024;
  if (was_answered) wait_ = kMin;
  const absl::Duration wait = wait_;
  wait_ = std::min(2 * wait_, absl::Duration(kMax));
  const auto part = static_cast<int64_t>(random_() % (kParts / 2));
  return std::min(std::max(told, absl::ZeroDuration()), absl::Duration(kToldMax)) +
         wait * (kParts - part) / kParts;
}

}  // namespace galley::worker
