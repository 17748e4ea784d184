// ClassQuota: from which class of cooks the next job comes.
//
// A higher class goes first. So that no class starves, the lower classes together get a tenth of
// the expected time that is handed over while they have jobs; but they never go before Blocking
// jobs. Each job of a higher class earns the lower classes a ninth of its expected time. When the
// earned time covers the first job of the lower classes, this job is handed over. Spare jobs, which
// only asks ahead of need want, are of no class and have no share (spare_jobs.h).
//
// Cost: O(1).
// Threads: none; owned by JobQueue.
#pragma once

#include <array>
#include <cstddef>

#include "absl/time/time.h"
#include "director/core/events.h"

namespace galley::director {

class ClassQuota {
 public:
  // The classes: ahead, nightly, commit, now.
  static constexpr size_t kClasses = 4;
  static size_t ClassOf(Urgency urgency);
  // The most urgent urgency below the class. REQUIRES: not the lowest class.
  static Urgency UrgencyBelow(size_t of_class);

  // True: a job of this expected time, from a class below `of_class`, goes first.
  bool IsTurnOfLower(size_t of_class, absl::Duration expected) const {
    return of_class > 0 && of_class + 1 < kClasses && earned_[of_class] >= expected;
  }
  // A job of the class was handed over while a lower class had jobs.
  void Earn(size_t of_class, absl::Duration expected);
  // A job of a lower class was handed over instead of a job of this class.
  void Spend(size_t of_class, absl::Duration expected) { earned_[of_class] -= expected; }

 private:
  std::array<absl::Duration, kClasses> earned_{};  // by the classes below the index
};

}  // namespace galley::director
