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
    unsettled_.insert(package);
  }
}

// A worker says what it really has.
void Survivors::Resume(const WorkerAttached& event) {
  const bool is_wanted = core_.cooks.active() != 0;
  for (auto at = resumed_.begin(); at != resumed_.end();) {
    Resumed& one = at->second;
    const bool is_its = core_.attempts.at(one.attempt).worker == event.worker;
    one.has_begun |= is_its && IsIn(event.begun, one.attempt);
    if (is_its && !IsIn(event.in_hand, one.attempt)) {
      one.over_at = core_.now + kReportsMax;
      unsettled_.insert(at->first);
    }
    at = is_its && !is_wanted ? Erase(at) : std::next(at);
  }
}

bool Survivors::IsResumed(AttemptId id) const {
  const Attempt* attempt = core_.attempts.Find(id);
  if (attempt == nullptr) return false;
  const auto found = resumed_.find(attempt->package);
  return found != resumed_.end() && found->second.attempt == id;
}

void Survivors::ForgetResumed(AttemptId id) {
  if (IsResumed(id)) Erase(resumed_.find(core_.attempts.at(id).package));
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
    at = is_its ? Erase(at) : std::next(at);
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
      Erase(resumed_.find(id));
    }
    attempt.is_earlier = false;
    attempt.content = kOutdated;
  }
  given_.erase(found);
}

void Survivors::CancelResumed() {
  for (auto at = resumed_.begin(); at != resumed_.end(); at = Erase(at))
    DesireFor(core_.attempts.at(at->second.attempt).worker).cancel.push_back(at->second.attempt);
}

bool Survivors::TakeUp(PackageId id) {
  const auto found = resumed_.find(id);
  if (found == resumed_.end()) return false;
  const Resumed was = found->second;
  Attempt& attempt = core_.attempts.at(was.attempt);
  const bool is_over = was.over_at != absl::InfiniteFuture();
  const bool is_awaited = is_over ? core_.now < was.over_at : IsAwaited(was);
  if (is_awaited) {
    if (packages_[id].state == State::kSaveStalled)
      lifecycle().SetState(id, State::kLoad, "its worker is expected");
    lifecycle().BackOff(id, core_.now + kLookAgain);
    return true;
  }
  Erase(found);
  // (Whether what it asks for is free was not looked at yet.)
  const bool comes_again = packages_[id].resource_group != 0;
  if (is_over) return comes_again;
  const record::Generated* generated = packages_[id].generated.get();
  const bool is_same_source =
      was.generated_source.has_value()
          ? generated != nullptr && generated->source == *was.generated_source
          : generated == nullptr;
  const PlatformMask platforms = core_.advancing.InPhase(id, Phase::kToCook);
  if (!is_same_source || attempt.platform_set != core_.platform_sets.present() ||
      (platforms & ~attempt.remaining) != 0 ||
      !core_.offers.Has(attempt.worker, *workers_.Find(attempt.worker), id) ||
      !core_.grants.IsFree(packages_[id].resource_group) ||
      !core_.reservations.MayTakeAt(id, attempt.worker)) {
    DesireFor(attempt.worker).cancel.push_back(was.attempt);
    return comes_again;
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
      !graph().agenda.empty() || !core_.cooks.IsAllSelected() ||
      core_.awake - dropped_at_ < kLookAgain)
    return;
  dropped_at_ = core_.awake;
  for (auto at = resumed_.begin(); at != resumed_.end();) {
    // (One that may hold something goes on until its worker has heard that it is not wanted.)
    const bool is_unwanted =
        packages_[at->first].work == nullptr && (!IsAwaited(at->second) || GroupOf(at->first) == 0);
    if (is_unwanted)
      DesireFor(core_.attempts.at(at->second.attempt).worker).cancel.push_back(at->second.attempt);
    at = is_unwanted ? Erase(at) : std::next(at);
  }
}

Survivors::ByPackage::iterator Survivors::Erase(ByPackage::iterator at) {
  core_.grants.Release(at->second.attempt);
  unsettled_.erase(at->first);
  return resumed_.erase(at);
}

// Its worker has not spoken yet.
bool Survivors::IsAwaited(const Resumed& one) const {
  const WorkerId worker = core_.attempts.at(one.attempt).worker;
  return workers_.Find(worker)->presence == Worker::Presence::kStarting;
}

// What it asks for; nullopt: that is not known.
std::optional<uint32_t> Survivors::GroupOf(PackageId id) const {
  const PackageData& package = packages_[id];
  if (package.work != nullptr && package.work->has_begun) return package.resource_group;
  if (!GeneratorName(package.name).empty()) return std::nullopt;
  const std::optional<CatalogEntry> entry = core_.catalog->Find(package.name);
  uint32_t group = 0;
  std::string why;
  return entry.has_value() && core_.grants.GroupOf(entry->resources, &group, &why) ? group : 0;
}

void Survivors::HoldResources() {
  is_unsure_ = false;
  // (By another catalog a package may ask for something else.)
  if (std::exchange(settled_epoch_, core_.epoch) != core_.epoch) {
    for (const auto& [package, one] : resumed_) unsettled_.insert(package);
  }
  for (auto at = unsettled_.begin(); at != unsettled_.end();)
    at = SettleHold(*at, resumed_.at(*at)) ? unsettled_.erase(at) : std::next(at);
}

// True: it holds what it asks for, or will hold nothing.
bool Survivors::SettleHold(PackageId package, const Resumed& one) {
  if (one.over_at != absl::InfiniteFuture()) {
    core_.grants.Release(one.attempt);
    return true;
  }
  if (core_.grants.Holds(one.attempt)) return true;
  const std::optional<uint32_t> group = GroupOf(package);
  if (group == 0) return true;
  const WorkerId worker = core_.attempts.at(one.attempt).worker;
  if (!group.has_value() || IsAwaited(one)) {
    is_unsure_ = true;
    return false;
  }
  if (!core_.grants.IsFreeBeside(*group, 0) || !core_.grants.IsFreeAt(*group, worker)) return false;
  core_.grants.Acquire(one.attempt, *group, worker);
  return true;
}

// The attempt's results are made from what the package is made of now. For an attempt of an earlier
// term the shell has compared files and settings; but a generated source may be another one now.
bool Survivors::IsOfToday(const Attempt& attempt) const {
  if (attempt.is_earlier) return GeneratorName(NameOf(attempt.package)).empty();
  return attempt.content == packages_[attempt.package].content ||
         IsSabotaged(Sabotage::kSkipEpochCheck);
}

}  // namespace galley::director
