#include "director/core/cook.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "common/base/status_macros.h"
#include "director/core/core.h"

namespace galley::director {

Cook::Cook(Core& core)
    : Part(core),
      selection(core, *this),
      judging(core, *this),
      roots(core, *this),
      losing(core, *this),
      is_over_(true) {}

Cook::Cook(Core& core, CookRequested request) : Cook(core) {
  is_over_ = false;
  request_ = std::move(request);
  const PlatformMask all =
      core.platform_count == 32 ? ~PlatformMask{0} : MaskOf(core.platform_count) - 1;
  request_.platforms &= all;
  tally.counters.workers_attached = workers_.attached();
  tally.monitor.Advance(core.now);
}

bool Cook::IsQuiet() const {
  return !is_over_ && selection.IsAllSelected() && graph().agenda.empty() &&
         lifecycle().in_works() <= (IsSabotaged(Sabotage::kEndWithPending) ? 1 : 0) &&
         core_.commits.empty() && !losing.is_looking();
}

void Cook::GoOn() {
  if (is_ending()) {
    if (core_.commits.empty()) End("");
    return;
  }
  if (roots.is_settling() || !IsQuiet() || judging.ReexploreIfChanged()) return;
  const std::vector<PackageId> by_name = judging.InCookByName();
  for (const PackageId package : by_name) judging.Judge(package);
  if (is_ending()) return GoOn();
  // All that was selected is gone, or was never there: there is nothing to be a root of.
  const auto is_there = [&](PackageId id) {
    const PackageData& package = packages_[id];
    return package.is_selected &&
           (package.generated != nullptr || core_.catalog->Find(package.name).has_value());
  };
  if (!request_.selected.empty() && std::none_of(by_name.begin(), by_name.end(), is_there))
    return End("");
  roots.Build(by_name);
}

void Cook::Stop(Ending how) {
  if (is_over_) return;
  if (roots.is_publishing()) {
    if (how == Ending::kInterrupted) losing.Interrupt();
    return;
  }
  if (is_ending()) {
    if (how == Ending::kInterrupted) ending_ = how;
    return;
  }
  ending_ = how;
  CancelAll();
}

void Cook::CancelAll() {
  core_.survivors.CancelResumed();
  for (const WorkerId worker : workers_.Holding()) {
    for (const AttemptId attempt : workers_.Find(worker)->hand.All()) {
      if (core_.attempts.Current(attempt) == nullptr) continue;  // it ended with one before it
      const PackageId package = core_.attempts.at(attempt).package;
      core_.attempts.EndAttempt(attempt, Tell::kCancel);
      core_.advancing.Advance(package);
    }
  }
}

void Cook::End(const std::string& infrastructure_error) {
  if (!infrastructure_error.empty()) CancelAll();
  const bool is_complete = infrastructure_error.empty() && !is_ending();
  if (is_complete) judging.WarnOfFailedTargets();
  if (is_complete) judging.WarnOfUnsolicited();
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageId id(i);
    PackageData& package = packages_[id];
    if (package.state != State::kIdle) lifecycle().SetState(id, State::kIdle, "the cook is over");
    if (!package.is_in_cook || package.outcome != Outcome::kNone) continue;
    if (core_.advancing.InPhase(id, Phase::kFailed) != 0 || judging.JudgedOf(id) != 0) {
      lifecycle().SetOutcome(id, Outcome::kFailed);
      continue;
    }
    lifecycle().SetSkipped(id, true);
    ++tally.counters.skipped;
  }
  graph().agenda.Clear();
  lifecycle().equal_work().Clear();
  Note(CookEnded{request_.request, ending_ == Ending::kInterrupted, ending_ == Ending::kFailFast,
                 infrastructure_error});
  is_over_ = true;
}

void Cook::CheckTally() const {
  Tally sum;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageId id(i);
    if (packages_[id].is_in_cook)
      sum.Count(packages_[id], request_.platforms, judging.JudgedOf(id), true);
  }
  const Counters& a = tally.counters;
  const Counters& b = sum.counters;
  GALLEY_CHECK(a.in_cook == b.in_cook && a.loaded == b.loaded && a.failed == b.failed);
  GALLEY_CHECK(a.up_to_date == b.up_to_date && a.results_wanted == b.results_wanted);
  GALLEY_CHECK(a.results_cooked == b.results_cooked && a.results_cached == b.results_cached);
  GALLEY_CHECK(a.results_up_to_date == b.results_up_to_date &&
               a.results_failed == b.results_failed);
  GALLEY_CHECK(tally.monitor.View(1).packages == sum.monitor.View(1).packages);
  GALLEY_CHECK(tally.monitor.over() == sum.monitor.over());
  GALLEY_CHECK(tally.monitor.to_cook() == sum.monitor.to_cook());
  GALLEY_CHECK(tally.monitor.expected() == sum.monitor.expected());
}

}  // namespace galley::director
