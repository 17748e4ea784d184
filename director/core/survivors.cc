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

bool IsIn(const std::vector<AttemptId>& attempts, AttemptId attempt) {
  return std::find(attempts.begin(), attempts.end(), attempt) != attempts.end();
}

}  // namespace

void Survivors::OnWorkersSurvived(const WorkersSurvived& event) {
  workers_.BeginOwnAt(event.first_free);
  for (const WorkerId worker : event.workers) {
    if (workers_.Find(worker) == nullptr) workers_.AddSurvivor(worker, today_.awake);
  }
  for (const WorkersSurvived::Given& given : event.given) {
    if (workers_.Find(given.worker) == nullptr) continue;
    const PackageId package = graph_.FindOrAdd(given.package);
    core_.attempts.Add(given.attempt, Attempt{.package = package,
                                              .worker = given.worker,
                                              .platform_set = today_.platform_sets.present(),
                                              .granted = given.platforms,
                                              .remaining = given.platforms,
                                              .is_current = false,
                                              .is_earlier = true});
    core_.resumed_attempts.Add(package, given.attempt, given.generated_source);
  }
}

// A worker says what it really has.
void Survivors::Resume(const WorkerAttached& event) {
  const bool is_wanted = claimants_.active() != 0;
  ResumedAttempts& resumed = core_.resumed_attempts;
  for (auto at = resumed.all().begin(); at != resumed.all().end();) {
    ResumedAttempts::Resumed& one = at->second;
    const bool is_its = core_.attempts.at(one.attempt).worker == event.worker;
    one.has_begun |= is_its && IsIn(event.begun, one.attempt);
    if (is_its && !IsIn(event.in_hand, one.attempt)) {
      one.over_at = today_.now + kReportsMax;
      resumed.unsettled().insert(at->first);
    }
    at = is_its && !is_wanted ? resumed.Erase(at) : std::next(at);
  }
}

bool Survivors::TakeUp(PackageId id) {
  const auto found = core_.resumed_attempts.all().find(id);
  if (found == core_.resumed_attempts.all().end()) return false;
  const ResumedAttempts::Resumed was = found->second;
  Attempt& attempt = core_.attempts.at(was.attempt);
  const bool is_over = was.over_at != absl::InfiniteFuture();
  const bool is_awaited = is_over ? today_.now < was.over_at : IsAwaited(was);
  if (is_awaited) {
    if (packages_[id].state == State::kSaveStalled)
      lifecycle().SetState(id, State::kLoad, "its worker is expected");
    lifecycle().BackOff(id, today_.now + kLookAgain);
    return true;
  }
  core_.resumed_attempts.Erase(found);
  // (Whether what it asks for is free was not looked at yet.)
  const bool comes_again = packages_[id].resource_group != 0;
  if (is_over) return comes_again;
  const record::Generated* generated = packages_[id].generated.get();
  const bool is_same_source =
      was.generated_source.has_value()
          ? generated != nullptr && generated->source == *was.generated_source
          : generated == nullptr;
  const PlatformMask platforms = InPhase(packages_[id], Phase::kToCook);
  if (!is_same_source || attempt.platform_set != today_.platform_sets.present() ||
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
  attempt.expected = CostOf(packages_[id], core_.costs);
  attempt.is_partial = true;  // nobody has seen how long the whole took
  attempt.is_loaded = was.has_begun;
  attempt.is_earlier = false;
  core_.handing_over.PutInHand(id);
  core_.handing_over.Hold(was.attempt, attempt);
  core_.handing_over.SetHandedOver(id, was.attempt);
  core_.advancing.Advance(id);
  claimants_.Count(id, &Counters::jobs_resumed);
  return true;
}

void Survivors::DropUnwanted() {
  ResumedAttempts& resumed = core_.resumed_attempts;
  if (resumed.empty() || !lifecycle().requests().empty() || core_.looking_up.in_flight() > 0 ||
      !graph_.agenda().empty() || !claimants_.IsAllSelected() ||
      today_.awake - dropped_at_ < kLookAgain)
    return;
  dropped_at_ = today_.awake;
  for (auto at = resumed.all().begin(); at != resumed.all().end();) {
    // (One that may hold something goes on until its worker has heard that it is not wanted.)
    const bool is_unwanted =
        packages_[at->first].work == nullptr && (!IsAwaited(at->second) || GroupOf(at->first) == 0);
    if (is_unwanted)
      DesireFor(core_.attempts.at(at->second.attempt).worker).cancel.push_back(at->second.attempt);
    at = is_unwanted ? resumed.Erase(at) : std::next(at);
  }
}

// Its worker has not spoken yet.
bool Survivors::IsAwaited(const ResumedAttempts::Resumed& one) const {
  const WorkerId worker = core_.attempts.at(one.attempt).worker;
  return workers_.Find(worker)->presence == Worker::Presence::kStarting;
}

// What it asks for; nullopt: that is not known.
std::optional<uint32_t> Survivors::GroupOf(PackageId id) const {
  const PackageData& package = packages_[id];
  if (package.work != nullptr && package.work->has_begun) return package.resource_group;
  if (!GeneratorName(package.name).empty()) return std::nullopt;
  const std::optional<CatalogEntry> entry = today_.catalog->Find(package.name);
  uint32_t group = 0;
  std::string why;
  return entry.has_value() && core_.grants.GroupOf(entry->resources, &group, &why) ? group : 0;
}

void Survivors::HoldResources() {
  ResumedAttempts& resumed = core_.resumed_attempts;
  resumed.SetUnsure(false);
  // (By another catalog a package may ask for something else.)
  if (std::exchange(settled_epoch_, today_.epoch) != today_.epoch) {
    for (const auto& [package, one] : resumed.all()) resumed.unsettled().insert(package);
  }
  absl::btree_set<PackageId>& unsettled = resumed.unsettled();
  for (auto at = unsettled.begin(); at != unsettled.end();)
    at = SettleHold(*at, resumed.all().at(*at)) ? unsettled.erase(at) : std::next(at);
}

// True: it holds what it asks for, or will hold nothing.
bool Survivors::SettleHold(PackageId package, const ResumedAttempts::Resumed& one) {
  if (one.over_at != absl::InfiniteFuture()) {
    core_.grants.Release(one.attempt);
    return true;
  }
  if (core_.grants.Holds(one.attempt)) return true;
  const std::optional<uint32_t> group = GroupOf(package);
  if (group == 0) return true;
  const WorkerId worker = core_.attempts.at(one.attempt).worker;
  if (!group.has_value() || IsAwaited(one)) {
    core_.resumed_attempts.SetUnsure(true);
    return false;
  }
  if (!core_.grants.IsFreeBeside(*group, 0) || !core_.grants.IsFreeAt(*group, worker)) return false;
  core_.grants.Acquire(one.attempt, *group, worker);
  return true;
}

}  // namespace galley::director
