// SilenceWatch: when to look for workers that fell silent, and when it says something that they
// are. While this process did not run itself, what they said lies unread in its buffers.
//
// Threads: one.
#pragma once

#include "absl/time/time.h"

namespace galley::director {

class SilenceWatch {
 public:
  // So long a worker of another machine may be silent; it speaks once a second.
  static constexpr absl::Duration kSilentMax = absl::Seconds(3);
  static constexpr absl::Duration kMostSilentMax = absl::Seconds(12);  // when most are, at once

  // To be asked again and again. `now`: monotonic.
  bool IsDue(absl::Time now) {
    // (Not at each event of a farm.)
    if (now - looked_at_ < kSilentMax / 30) return false;
    if (now - looked_at_ > kSilentMax / 3) listens_since_ = now;
    looked_at_ = now;
    return true;
  }
  // This process has listened for so long that a silent worker would have been heard.
  bool HasListened(absl::Time now) const { return now - listens_since_ >= kSilentMax; }

 private:
  absl::Time looked_at_ = absl::InfinitePast();
  absl::Time listens_since_ = absl::InfinitePast();  // without a pause of this process
};

}  // namespace galley::director
