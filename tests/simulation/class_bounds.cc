#include "tests/simulation/class_bounds.h"

#include <algorithm>
#include <utility>

#include "director/core/workers/class_quota.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a check of it

namespace {

constexpr int kOthersForOne = 9;
constexpr int kSlackJobs = 4;  // jobs of the higher class

}  // namespace

void ClassBounds::Look(absl::Time now, const std::vector<HandedOver>& handed_over,
                       const std::set<PackageId>& asked) {
  before_ = std::exchange(ready_, {});
  for (uint32_t i = 0; i < core_.package_ids(); ++i) {
    const PackageId package(i);
    if (!core_.IsReady(package)) continue;
    const Urgency urgency = asked.contains(package) ? Urgency::kBlocking : core_.UrgencyOf(package);
    if (urgency == Urgency::kSpare) continue;
    const Ready fresh{ClassQuota::ClassOf(urgency), now};
    const auto known = before_.find(package);
    const bool is_as_before = known != before_.end() && known->second.of_class == fresh.of_class;
    ready_[package] = is_as_before ? known->second : fresh;
  }
  for (const HandedOver& one : handed_over) {
    longest_ = std::max(longest_, one.expected);
    CheckOrder(one);
    CountShares(one);
  }
  CheckOvertaking(now, handed_over);
}

void ClassBounds::CheckOrder(const HandedOver& one) const {
  if (one.is_second) return;
  const size_t of_class = ClassQuota::ClassOf(one.urgency);
  const bool has_its_turn = one.as > one.urgency;
  for (const auto& [package, ready] : ready_) {
    const auto before = before_.find(package);
    if (before == before_.end() || before->second.of_class != ready.of_class) continue;
    // Blocking jobs never wait for the lower classes' tenth.
    const bool is_higher =
        ready.of_class > of_class && (!has_its_turn || ready.of_class == kClasses - 1);
    const bool is_held_up = is_higher || one.urgency == Urgency::kSpare;
    if (is_held_up)
      checks_.Break("safety: " + core_.NameOf(one.package) + " is handed over before " +
                    core_.NameOf(package) + ", which is of a higher class");
  }
}

void ClassBounds::CountShares(const HandedOver& one) {
  if (one.urgency == Urgency::kSpare) return;
  const size_t of_class = ClassQuota::ClassOf(one.urgency);
  size_t lowest = kClasses;  // the lowest class with ready jobs
  for (const auto& [package, ready] : ready_) lowest = std::min(lowest, ready.of_class);
  // Nothing is held back for jobs that wait behind Blocking jobs.
  for (size_t above = 1; above + 1 < kClasses; ++above) {
    absl::Duration& ahead = ahead_[above];
    if (lowest >= above) {
      ahead = absl::ZeroDuration();
    } else if (of_class < above) {
      ahead = std::max(ahead - kOthersForOne * one.expected, absl::ZeroDuration());
    } else if (of_class == above) {
      ahead += one.expected;
    }
    if (ahead > (kOthersForOne + kSlackJobs) * longest_)
      checks_.Break("safety: jobs of lower classes starve beside " + core_.NameOf(one.package) +
                    ", for " + absl::FormatDuration(ahead));
  }
}

void ClassBounds::CheckOvertaking(absl::Time now, const std::vector<HandedOver>& handed_over) {
  // A worker that died is missed only after a while, and another one comes later still. Held
  // workers take no jobs. The counters are those of the last cook, which may be over.
  const uint64_t attached =
      std::min<uint64_t>(core_.counters().workers_attached, core_.holdings().attached);
  const bool may_take = attached >= workers_ && core_.held_workers() < attached;
  for (size_t of_class = 1; of_class < kClasses; ++of_class) {
    const bool is_ready = std::ranges::any_of(
        ready_, [&](const auto& ready) { return ready.second.of_class >= of_class; });
    const bool goes_on = std::ranges::any_of(handed_over, [&](const HandedOver& one) {
      return ClassQuota::ClassOf(one.urgency) >= of_class;
    });
    absl::Time& since = waits_since_[of_class];
    if (!is_ready || goes_on || !may_take) since = now;
    if (now - since <= overtakes_within_) continue;
    std::string waiting;
    for (const auto& [package, ready] : ready_) {
      if (ready.of_class >= of_class) waiting += " " + core_.NameOf(package);
    }
    checks_.Break("safety: jobs of class " + std::to_string(of_class) +
                  " are ready, and none is handed over for " + absl::FormatDuration(now - since) +
                  ":" + waiting);
  }
}

}  // namespace galley::simulation
