// ClassBounds: checks that classes of cooks get what is theirs (director/core/workers/shares.h), by
// what is handed over and what is ready meanwhile:
//
//   - No job is handed over while one of a higher class is ready, but for the tenth of the lower
//     classes, of which a Blocking job is never held up.
//   - While jobs of lower classes are ready, those of the class above them are handed over for at
//     most nine times the expected time that those below are. (What is ready is known after a step
//     only, and a job may be longer than the one that was reckoned with: some jobs more are let
//     pass.)
//   - While jobs of a class or higher ones are ready, one of them is handed over within the longest
//     job and what a worker has in its window: there is room by then, and a worker begins what is
//     more urgent first.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "director/core/cook_core.h"
#include "tests/simulation/checks.h"

namespace galley::simulation {

class ClassBounds {
 public:
  struct HandedOver {
    director::PackageId package;
    director::Urgency urgency = director::Urgency::kNormal;  // its own
    director::Urgency as = director::Urgency::kNormal;       // at its worker
    absl::Duration expected;
  };

  // `longest`: of a job; `overtakes_within`: from ready to handed over.
  ClassBounds(const director::CookCore& core, absl::Duration longest,
              absl::Duration overtakes_within, Checks& checks)
      : core_(core), overtakes_within_(overtakes_within), checks_(checks), longest_(longest) {
    waits_since_.fill(absl::InfiniteFuture());
  }

  // After a step, with what it handed over.
  void Look(absl::Time now, const std::vector<HandedOver>& handed_over);

 private:
  static constexpr size_t kClasses = 4;

  void CheckOrder(const HandedOver& one) const;
  void CountShares(const HandedOver& one);
  void CheckOvertaking(absl::Time now, const std::vector<HandedOver>& handed_over);

  const director::CookCore& core_;
  const absl::Duration overtakes_within_;
  Checks& checks_;
  struct Ready {
    size_t of_class = 0;
    absl::Time since;  // when it became ready, as one of that class
  };
  // (Those that became ready in this step are not in `before_`.)
  std::map<director::PackageId, Ready> ready_, before_;
  std::array<absl::Time, kClasses> waits_since_;  // of those of the class or higher ones
  absl::Duration longest_;                        // expected
  std::array<absl::Duration, kClasses> ahead_{};  // of those below the class, in expected time
};

}  // namespace galley::simulation
