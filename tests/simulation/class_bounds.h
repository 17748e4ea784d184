// ClassBounds: checks that classes of cooks get their share (director/core/workers/class_quota.h),
// by the jobs that are handed over and the jobs that are ready meanwhile:
//
//   - No job is handed over while a job of a higher class is ready, except for the tenth of the
//     lower classes, which never holds up a Blocking job.
//   - While jobs of lower classes are ready, jobs of the class above them are handed over for at
//     most nine times the expected time of the jobs below. Some more jobs are let pass, because
//     ready jobs are known only after a step, and a job may be longer than expected.
//   - While jobs of a class or of higher classes are ready, one of them is handed over within the
//     time of the longest job and of a worker's window, unless a worker is missing or all workers
//     are held: by then there is room, and a worker begins more urgent jobs first.
//
// A package that somebody asks for beside the cooks is Blocking, whatever the core says: it is
// handed over within the length of one job, also while other cooks publish and stage their roots.
//
// A spare job, which only asks ahead of need want, is of no class: it is handed over only while no
// other job is ready, and no job waits for its end (CooksStage::CheckSpareJobs).
#pragma once

#include <array>
#include <map>
#include <set>
#include <vector>

#include "absl/time/time.h"
#include "director/core/cook_core.h"
#include "tests/simulation/checks.h"

namespace galley::simulation {

class ClassBounds {
 public:
  struct HandedOver {
    director::PackageId package;
    director::Urgency urgency = director::Urgency::kNormal;  // the job's own
    director::Urgency as = director::Urgency::kNormal;       // at its worker
    absl::Duration expected;
    bool is_second = false;  // it moves, or is backed up: it took its turn with an earlier attempt
  };

  // `workers`: the workers of the core; `longest`: the longest job; `overtakes_within`: the limit
  // from ready to handed over.
  ClassBounds(const director::CookCore& core, uint64_t workers, absl::Duration longest,
              absl::Duration overtakes_within, Checks& checks)
      : core_(core),
        workers_(workers),
        overtakes_within_(overtakes_within),
        checks_(checks),
        longest_(longest) {
    waits_since_.fill(absl::InfiniteFuture());
  }

  // Called after a step. `handed_over`: the jobs that the step handed over. `asked`: the packages
  // for which somebody asks.
  void Look(absl::Time now, const std::vector<HandedOver>& handed_over,
            const std::set<director::PackageId>& asked);

 private:
  static constexpr size_t kClasses = 4;

  void CheckOrder(const HandedOver& one) const;
  void CountShares(const HandedOver& one);
  void CheckOvertaking(absl::Time now, const std::vector<HandedOver>& handed_over);

  const director::CookCore& core_;
  const uint64_t workers_;
  const absl::Duration overtakes_within_;
  Checks& checks_;
  struct Ready {
    size_t of_class = 0;
    absl::Time since;  // when it became ready in this class
  };
  // Jobs that became ready in this step are not in `before_`.
  std::map<director::PackageId, Ready> ready_, before_;
  std::array<absl::Time, kClasses> waits_since_;  // of jobs of the class or higher classes
  absl::Duration longest_;                        // expected
  std::array<absl::Duration, kClasses> ahead_{};  // the expected time of jobs below the class
};

}  // namespace galley::simulation
