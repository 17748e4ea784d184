#include "director/core/survivors.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "director/core/core.h"

namespace galley::director {
namespace {

constexpr absl::Duration kLookAgain = absl::Milliseconds(100);
// A worker lists its jobs in its first message, and reports what became of the others in the next
// ones.
constexpr absl::Duration kReportsMax = absl::Seconds(1);
constexpr uint64_t kOutdated = ~uint64_t{0};  // the content of what was given before a change

bool IsIn(const std::vector<AttemptId>& attempts, AttemptId attempt) {
  return std::find(attempts.begin(), attempts.end(), attempt) != attempts.end();
}

}  // namespace

void Survivors::OnWorkersSurvived(const WorkersSurvived& event) {
  workers_.BeginOwnAt(event.first_free);
  for (const WorkerId worker : event.workers) {
    if (workers_.Find(worker) == nullptr) workers_.AddSurvivor(worker, core_.awake);
  }
  for (const WorkersSurvived::Given& given : event.given) {
    if (workers_.Find(given.worker) == nullptr) continue;
    const PackageId package = graph().claims.FindOrAdd(given.package);
    core_.attempts.Add(given.attempt, Attempt{.package = package,
                                              .worker = given.worker,
                                              .platform_set = core_.platform_sets.present(),
                                              .granted = given.platforms,
                                              .remaining = given.platforms,
                                              .is_current = false,
                                              .is_earlier = true});
    given_[package].push_back(given.attempt);
    // When two attempts have one package, the first that was given goes on.
    resumed_.emplace(package, Resumed{given.attempt, given.generated_source});
  }
}

// A worker says what it really has.
void Survivors::Resume(const WorkerAttached& event) {
  const bool is_wanted = core_.cooks.active() != 0;
  for (auto at = resumed_.begin(); at != resumed_.end();) {
    Resumed& one = at->second;
    const bool is_its = core_.attempts.at(one.attempt).worker == event.worker;
    one.has_begun |= is_its && IsIn(event.begun, one.attempt);
    if (is_its && !IsIn(event.in_hand, one.attempt)) one.over_at = core_.now + kReportsMax;
    at = is_its && !is_wanted ? resumed_.erase(at) : std::next(at);
  }
}

bool Survivors::IsResumed(AttemptId id) const {
  const Attempt* attempt = core_.attempts.Find(id);
  if (attempt == nullptr) return false;
  const auto found = resumed_.find(attempt->package);
  return found != resumed_.end() && found->second.attempt == id;
}

void Survivors::ForgetResumed(AttemptId id) {
  if (IsResumed(id)) resumed_.erase(core_.attempts.at(id).package);
}

void Survivors::Forget(AttemptId id) {
  ForgetResumed(id);
  const auto given = given_.find(core_.attempts.at(id).package);
  if (given == given_.end()) return;
  std::erase(given->second, id);
  if (given->second.empty()) given_.erase(given);
}

void Survivors::ForgetResumedOf(WorkerId worker) {
  for (auto at = resumed_.begin(); at != resumed_.end();) {
    const bool is_its = core_.attempts.at(at->second.attempt).worker == worker;
    at = is_its ? resumed_.erase(at) : std::next(at);
  }
}

void Survivors::Outdate(PackageId id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;
  for (const AttemptId given : found->second) {
    Attempt& attempt = core_.attempts.at(given);
    if (!attempt.is_earlier) continue;
    if (IsResumed(given)) {
      DesireFor(attempt.worker).cancel.push_back(given);
      resumed_.erase(id);
    }
    attempt.is_earlier = false;
    attempt.content = kOutdated;
  }
  given_.erase(found);
}

void Survivors::CancelResumed() {
  for (const auto& [package, one] : std::exchange(resumed_, {}))
    DesireFor(core_.attempts.at(one.attempt).worker).cancel.push_back(one.attempt);
}

bool Survivors::TakeUp(PackageId id) {
  const auto found = resumed_.find(id);
  if (found == resumed_.end()) return false;
  const Resumed was = found->second;
  Attempt& attempt = core_.attempts.at(was.attempt);
  const bool is_over = was.over_at != absl::InfiniteFuture();
  const bool is_awaited =
      is_over ? core_.now < was.over_at
              : workers_.Find(attempt.worker)->presence == Worker::Presence::kStarting;
  if (is_awaited) {
    if (packages_[id].state == State::kSaveStalled)
      lifecycle().SetState(id, State::kLoad, "its worker is expected");
    lifecycle().BackOff(id, core_.now + kLookAgain);
    return true;
  }
  resumed_.erase(found);
  if (is_over) return false;
  const record::Generated* generated = packages_[id].generated.get();
  const bool is_same_source =
      was.generated_source.has_value()
          ? generated != nullptr && generated->source == *was.generated_source
          : generated == nullptr;
  const PlatformMask platforms = core_.advancing.InPhase(id, Phase::kToCook);
  if (!is_same_source || attempt.platform_set != core_.platform_sets.present() ||
      (platforms & ~attempt.remaining) != 0 ||
      !core_.offers.Has(attempt.worker, *workers_.Find(attempt.worker), id) ||
      !core_.reservations.MayTakeAt(id, attempt.worker)) {
    DesireFor(attempt.worker).cancel.push_back(was.attempt);
    return false;
  }
  attempt.remaining = platforms;
  attempt.content = packages_[id].content;
  attempt.is_current = true;
  attempt.group = packages_[id].resource_group;
  attempt.expected = core_.dispatching.CostOf(id);
  attempt.is_partial = true;  // nobody has seen how long the whole took
  attempt.is_loaded = was.has_begun;
  attempt.is_earlier = false;
  core_.dispatching.PutInHand(id);
  core_.dispatching.Hold(was.attempt, attempt);
  core_.dispatching.SetHandedOver(id, was.attempt);
  core_.advancing.Advance(id);
  core_.cooks.Count(id, &Counters::jobs_resumed);
  return true;
}

void Survivors::DropUnwanted() {
  if (resumed_.empty() || !lifecycle().requests().empty() || core_.looking_up.in_flight() > 0 ||
      !graph().agenda.empty() || !core_.cooks.IsAllSelected())
    return;
  for (auto at = resumed_.begin(); at != resumed_.end();) {
    const bool is_unwanted = packages_[at->first].work == nullptr;
    if (is_unwanted)
      DesireFor(core_.attempts.at(at->second.attempt).worker).cancel.push_back(at->second.attempt);
    at = is_unwanted ? resumed_.erase(at) : std::next(at);
  }
}

// The attempt's results are made from what the package is made of now. For an attempt of an earlier
// term the shell has compared files and settings; but a generated source may be another one now.
bool Survivors::IsOfToday(const Attempt& attempt) const {
  if (attempt.is_earlier) return GeneratorName(NameOf(attempt.package)).empty();
  return attempt.content == packages_[attempt.package].content ||
         IsSabotaged(Sabotage::kSkipEpochCheck);
}

}  // namespace galley::director
