// ClassQuota: which class of cooks the next job is of.
//
// A higher class goes first. Lower classes together get a tenth of the expected time of all jobs
// that are handed over while they have some, so that none of them starves; never before what is
// Blocking. Each job of a higher class earns those below it a ninth of its time; when that is
// enough for the job that comes first among them, this one is handed over.
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
  // Ahead, nightly, commit, now.
  static constexpr size_t kClasses = 4;
  static size_t ClassOf(Urgency urgency);
  // The most urgent of all that are less urgent than the class. REQUIRES: not the lowest class.
  static Urgency UrgencyBelow(size_t of_class);

  // True: it is the turn of a job of that expected time which is of a lower class than this one.
  bool IsTurnOfLower(size_t of_class, absl::Duration expected) const {
    return of_class > 0 && of_class + 1 < kClasses && earned_[of_class] >= expected;
  }
  // A job of the class was handed over while a lower class had some.
  void Earn(size_t of_class, absl::Duration expected);
  // A job of a lower class than this one was handed over instead of one of this class.
  void Spend(size_t of_class, absl::Duration expected) { earned_[of_class] -= expected; }

 private:
  std::array<absl::Duration, kClasses> earned_{};  // by those below the class
};

}  // namespace galley::director
