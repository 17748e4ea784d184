// WaitedRead: the limits of a read that a cook waits for: the read ends when the store is given up,
// and no try hangs longer than the time that the store may still lose. Other reads keep the limits
// of their caller.
#pragma once

#include <algorithm>

#include "common/base/cancellation.h"
#include "common/base/clock.h"
#include "common/store/interface/remote_cache.h"
#include "common/store/reapi/client/blob_trust.h"

namespace galley::store {

class WaitedRead {
 public:
  WaitedRead(const RemoteLimits& asked, BlobTrust& trust)
      : trust_(trust),
        asked_(asked.cancellation, [this] { either_.Cancel(); }),
        given_up_(asked.is_waited_for ? &trust.given_up() : nullptr, [this] { either_.Cancel(); }),
        limits_(asked) {
    if (!asked.is_waited_for) return;
    limits_.cancellation = &either_;
    limits_.stall_max = std::max(trust.LeftToLose(), kStallMin);
    begin_ = clock_.Monotonic();
  }

  const RemoteLimits& limits() const { return limits_; }
  // Notes the end of the read. A store that is down loses no more time, since it is not asked.
  void Ended(uint64_t bytes, bool is_of_use, bool is_down) {
    if (!limits_.is_waited_for || is_down) return;
    trust_.ReadTook(
        {.begin = begin_, .end = clock_.Monotonic(), .bytes = bytes, .is_of_use = is_of_use});
  }

 private:
  static constexpr absl::Duration kStallMin = absl::Seconds(1);

  BlobTrust& trust_;
  SystemClock clock_;  // real time, like the deadlines of calls
  Cancellation either_;
  const Cancellation::Hook asked_, given_up_;
  RemoteLimits limits_;
  absl::Time begin_;
};

}  // namespace galley::store
