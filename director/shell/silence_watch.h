// SilenceWatch: decides when to look for silent workers, and whether their silence means that they
// are lost: if this process was paused itself, messages of workers are still unread in its buffers.
//
// Threads: one.
#pragma once

#include "absl/time/time.h"

namespace galley::director {

class SilenceWatch {
 public:
  // How long a worker of another machine may be silent; a worker speaks once a second.
  static constexpr absl::Duration kSilentMax = absl::Seconds(3);
  // The limit when most workers are silent at once.
  static constexpr absl::Duration kMostSilentMax = absl::Seconds(12);

  // Says whether to look now. Called repeatedly. `now`: monotonic.
  bool IsDue(absl::Time now) {
    // Do not look at each event of a farm.
    if (now - looked_at_ < kSilentMax / 30) return false;
    if (now - looked_at_ > kSilentMax / 3) listens_since_ = now;
    looked_at_ = now;
    return true;
  }
  // Says whether this process has run long enough without a pause to have heard a living worker.
  bool HasListened(absl::Time now) const { return now - listens_since_ >= kSilentMax; }

 private:
  absl::Time looked_at_ = absl::InfinitePast();
  absl::Time listens_since_ = absl::InfinitePast();  // without a pause of this process
};

}  // namespace galley::director
