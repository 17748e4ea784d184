#include "director/core/packages/retry_policy.h"

#include <algorithm>

namespace galley::director {

absl::Duration BackOff(uint32_t failures) {
  const uint32_t doublings = std::min(failures == 0 ? 0 : failures - 1, uint32_t{6});
  return std::min(absl::Milliseconds(100) * (1 << doublings), absl::Seconds(5));
}

}  // namespace galley::director
