#include "worker/session/pending_watch.h"

#include <algorithm>
#include <utility>

namespace galley::worker {

bool PendingWatch::EndWait() {
  const bool was_pending = is_pending_;
  *this = PendingWatch();
  return was_pending;
}

bool PendingWatch::Look(absl::Time now, const ProcessorUse& use) {
  const bool was_pending = is_pending_;
  const absl::Duration passed = now - looked_at_;
  const absl::Duration used = use.time - time_;
  const bool is_first = !std::exchange(has_looked_, use.below > 0);
  const bool has_wanted_more = std::exchange(wanted_more_, use.wants_more);
  looked_at_ = now;
  time_ = use.time;
  if (use.below == 0) {
    is_pending_ = false;
  } else if (is_first) {
    // The first look: later looks show how much was used since.
  } else if (was_pending) {
    is_pending_ = used <= passed / 2 && !(use.wants_more && has_wanted_more);
  } else {
    // Less time than before means that a process ended for which nobody waited.
    is_pending_ = used >= absl::ZeroDuration() && used < passed / 4 && !use.wants_more;
  }
  const bool is_quiet = was_pending && is_pending_ && !use.wants_more;
  period_ = is_quiet ? std::min(2 * period_, kPeriodMax) : kPeriod;
  next_look_ = now + period_;
  return is_pending_ != was_pending;
}

}  // namespace galley::worker
