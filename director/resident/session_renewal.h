// SessionRenewal: when a resident director renews its session with the store while devices ask.
//
// A collection keeps what the store told the session. A director that nobody asks renews the
// session when it rests (ResidentDirector::RestIfIdle); but devices may ask all the time. What the
// director relies on then is younger than kReliesFor: an ask does not last so long, and what
// devices see is leased (docs/on-the-fly.md). A cook relies on all that was told since it began, so
// that nothing is renewed while a cook runs, and for kReliesFor afterwards.
//
// A session that was renewed too early makes no wrong cook: bytes that are gone are made again.
// Threads: one owner.
#pragma once

#include "absl/time/time.h"

namespace galley::director {

class SessionRenewal {
 public:
  static constexpr absl::Duration kReliesFor = absl::Hours(1);
  static constexpr absl::Duration kBetween = absl::Minutes(15);

  // `now`: when the session began.
  explicit SessionRenewal(absl::Time now) : cooked_at_(now), renewed_at_(now) {}

  // True: the session is to rely on nothing that was told more than kReliesFor ago.
  bool IsDue(absl::Time now, bool is_any_cooking) {
    if (is_any_cooking) cooked_at_ = now;
    if (now < cooked_at_ + kReliesFor || now < renewed_at_ + kBetween) return false;
    renewed_at_ = now;
    return true;
  }

 private:
  absl::Time cooked_at_;  // when a cook was last seen
  absl::Time renewed_at_;
};

}  // namespace galley::director
