#include "director/core/workers/class_quota.h"

#include <algorithm>

namespace galley::director {
namespace {

constexpr int kOthersForOne = 9;
// A job that lasts longer than the time that can be earned would never have its turn.
constexpr absl::Duration kEarnedMax = absl::Hours(24);

}  // namespace

size_t ClassQuota::ClassOf(Urgency urgency) {
  switch (urgency) {
    case Urgency::kSpare:
    case Urgency::kLow:
      return 0;
    case Urgency::kNormal:
    case Urgency::kAsked:
      return 1;
    case Urgency::kHigh:
      return 2;
    case Urgency::kBlocking:
      return 3;
  }
  return 0;
}

Urgency ClassQuota::UrgencyBelow(size_t of_class) {
  return of_class >= 3 ? Urgency::kHigh : of_class == 2 ? Urgency::kAsked : Urgency::kLow;
}

void ClassQuota::Earn(size_t of_class, absl::Duration expected) {
  earned_[of_class] = std::min(earned_[of_class] + expected / kOthersForOne, kEarnedMax);
}

}  // namespace galley::director
