#include "director/core/tally.h"

#include <algorithm>

namespace galley::director {

bool IsOver(const PackageInCook& package) {
  return package.outcome != Outcome::kNone || package.is_skipped;
}

void Tally::Count(const PackageData& package, PlatformMask platforms, PlatformMask judged,
                  bool is_there) {
  const auto add = [&](uint64_t& counter) { counter += is_there ? uint64_t{1} : ~uint64_t{0}; };
  add(counters.in_cook);
  if (is_there) {
    monitor.Enter(package.state, package.urgency);
  } else {
    monitor.Leave(package.state, package.urgency);
  }
  if (IsOver(package)) monitor.CountOver(is_there);
  if (package.was_loaded) add(counters.loaded);
  if (package.outcome == Outcome::kFailed || judged != 0) add(counters.failed);
  if (package.work != nullptr) {
    if (package.work->is_expected && is_there) monitor.AddExpected(package.work->expected);
    if (package.work->is_expected && !is_there) monitor.RemoveExpected(package.work->expected);
  }
  bool is_up_to_date = package.outcome == Outcome::kCooked && judged == 0;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const Slot& slot = package.slots[p];
    if (slot.phase == Phase::kUnwanted || (platforms & MaskOf(p)) == 0) continue;
    add(counters.results_wanted);
    is_up_to_date &= slot.source == ResultSource::kUpToDate;
    if (slot.phase == Phase::kFailed || (judged & MaskOf(p)) != 0) {
      add(counters.results_failed);
    } else if (slot.phase == Phase::kDone) {
      add(slot.source == ResultSource::kCooked   ? counters.results_cooked
          : slot.source == ResultSource::kCached ? counters.results_cached
                                                 : counters.results_up_to_date);
    }
  }
  if (is_up_to_date) add(counters.up_to_date);
}

}  // namespace galley::director
