#include "director/shell/commit_pacing.h"

#include <algorithm>

namespace galley::director {

absl::Time CommitPacing::Next(const Pending& pending) const {
  if (pending.is_urgent || pending.results >= kAtOnce || !pending.has_jobs)
    return absl::InfinitePast();
  return begun_ + period_;
}

void CommitPacing::Ended(absl::Duration took) {
  period_ = std::clamp(kShare * took, kPeriodMin, kPeriodMax);
}

}  // namespace galley::director
