// CommitPacing: decides when the next group of results is committed.
//
// A commit costs about the same for any number of results. While jobs run and nobody waits for the
// results, the time between commits is kShare times the time of one commit, from kPeriodMin to
// kPeriodMax. A group of kAtOnce results does not wait. Pure.
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
    bool is_urgent = false;  // somebody waits for one of the results
    bool has_jobs = false;   // more results will come
  };

  // Returns when the next group begins; InfinitePast: now.
  absl::Time Next(const Pending& pending) const;
  void Begun(absl::Time now) { begun_ = now; }
  // `took`: time of the commit on its thread.
  void Ended(absl::Duration took);

 private:
  absl::Time begun_ = absl::InfinitePast();
  absl::Duration period_;  // zero before the first measurement
};

}  // namespace galley::director
