// CommitPacing: when the next group of results is committed.
//
// The cost of making results durable is that of a group, not of a result. While jobs run and nobody
// waits for these results, commits begin two hundred times as far apart as one takes, within
// bounds; a large group does not wait. Pure.
//
// Threads: one owner.
#pragma once

#include <cstddef>

#include "absl/time/time.h"

namespace galley::director {

class CommitPacing {
 public:
  static constexpr int kShare = 200;
  static constexpr absl::Duration kPeriodMin = absl::Milliseconds(10);
  static constexpr absl::Duration kPeriodMax = absl::Seconds(1);
  static constexpr size_t kAtOnce = 512;  // results

  struct Pending {
    size_t results = 0;
    bool is_urgent = false;  // somebody waits for one of them
    bool has_jobs = false;   // more results will come
  };

  // InfinitePast: now.
  absl::Time Next(const Pending& pending) const;
  void Begun(absl::Time now) { begun_ = now; }
  // `took`: how long the commit took, from when its thread came to it.
  void Ended(absl::Duration took);

 private:
  absl::Time begun_ = absl::InfinitePast();
  absl::Duration period_;  // none before one was measured
};

}  // namespace galley::director
