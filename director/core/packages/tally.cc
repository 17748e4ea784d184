#include "director/core/packages/tally.h"

#include <algorithm>
#include <bit>

namespace galley::director {

bool IsOver(const PackageInCook& package, PlatformMask platforms, PlatformMask judged) {
  if (package.outcome != Outcome::kNone || package.is_skipped) return true;
  bool is_wanted = false;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const Phase phase = package.slots[p].phase;
    if (phase == Phase::kUnwanted || (platforms & MaskOf(p)) == 0) continue;
    is_wanted = true;
    if (!IsSettled(phase) && (judged & MaskOf(p)) == 0) return false;
  }
  return is_wanted;
}

void Tally::Count(const PackageData& package, PlatformMask platforms, PlatformMask judged,
                  bool is_there) {
  const auto add = [&](uint64_t& counter) { counter += is_there ? uint64_t{1} : ~uint64_t{0}; };
  add(counters.in_cook);
  on_agenda += is_there ? package.on_agenda : ~package.on_agenda + 1;
  if (is_there) {
    monitor.Enter(package.state, package.urgency);
  } else {
    monitor.Leave(package.state, package.urgency);
  }
  const bool is_over = IsOver(package, platforms, judged);
  if (is_over) monitor.CountOver(is_there);
  if (package.was_loaded) add(counters.loaded);
  if (package.work != nullptr) {
    if (package.work->is_expected && is_there) monitor.AddExpected(package.work->expected);
    if (package.work->is_expected && !is_there) monitor.RemoveExpected(package.work->expected);
  }
  bool has_failed = judged != 0;
  bool is_up_to_date = is_over && !package.is_skipped;
  for (PlatformIndex p = 0; p < package.slots.size(); ++p) {
    const Slot& slot = package.slots[p];
    if (slot.phase == Phase::kUnwanted || (platforms & MaskOf(p)) == 0) continue;
    add(counters.results_wanted);
    is_up_to_date &= slot.source == ResultSource::kUpToDate;
    if (slot.phase == Phase::kFailed || (judged & MaskOf(p)) != 0) {
      has_failed = true;
      add(counters.results_failed);
    } else if (slot.phase == Phase::kDone) {
      add(slot.source == ResultSource::kCooked   ? counters.results_cooked
          : slot.source == ResultSource::kCached ? counters.results_cached
                                                 : counters.results_up_to_date);
    }
  }
  if (has_failed && is_over) add(counters.failed);
  if (package.is_skipped && !has_failed) add(counters.skipped);
  if (is_up_to_date && !has_failed) add(counters.up_to_date);
}

void Tally::CountRefused(PlatformMask platforms, bool is_there) {
  const auto add = [&](uint64_t& counter, uint64_t by) { counter += is_there ? by : ~by + 1; };
  const auto results = static_cast<uint64_t>(std::popcount(platforms));
  add(counters.in_cook, 1);
  add(counters.failed, 1);
  add(counters.results_wanted, results);
  add(counters.results_failed, results);
  monitor.CountOver(is_there);
  if (is_there) {
    monitor.Enter(State::kIdle, Urgency::kNormal);
  } else {
    monitor.Leave(State::kIdle, Urgency::kNormal);
  }
}

}  // namespace galley::director
