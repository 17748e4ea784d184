#include "director/core/workers/survivors.h"

#include <algorithm>
#include <utility>

#include "common/base/sabotage.h"
#include "director/core/packages/job_costs.h"

namespace galley::director {
namespace {

constexpr absl::Duration kLookAgain = absl::Milliseconds(100);
// A worker lists its jobs in its first message, and reports what became of the others in the next
// ones.
constexpr absl::Duration kReportsMax = absl::Seconds(1);

bool IsIn(const std::vector<AttemptId>& attempts, AttemptId attempt) {
  return std::ranges::find(attempts, attempt) != attempts.end();
}

}  // namespace

void Survivors::OnWorkersSurvived(const WorkersSurvived& event) {
  workers_.BeginOwnAt(event.first_free);
  for (const WorkerId worker : event.workers) {
    if (workers_.Find(worker) == nullptr) workers_.AddSurvivor(worker, step_.awake);
  }
  for (const WorkersSurvived::Given& given : event.given) {
    if (workers_.Find(given.worker) == nullptr) continue;
    const PackageId package = graph_.FindOrAdd(given.package);
    deps_.attempts.Add(given.attempt, Attempt{.package = package,
                                              .worker = given.worker,
                                              .platform_set = step_.platform_sets.present(),
                                              .granted = given.platforms,
                                              .remaining = given.platforms,
                                              .is_current = false,
                                              .is_earlier = true});
    deps_.resumed_attempts.Add(package, given.attempt, given.generated_source);
  }
}

void Survivors::Resume(const WorkerAttached& event) {
  const bool is_wanted = claimants_.masks().active != 0;
  ResumedAttempts& resumed = deps_.resumed_attempts;
  for (auto at = resumed.all().begin(); at != resumed.all().end();) {
    ResumedAttempts::Resumed& one = at->second;
    const bool is_its = deps_.attempts.at(one.attempt).worker == event.worker;
    one.has_begun |= is_its && IsIn(event.begun, one.attempt);
    if (is_its && !IsIn(event.in_hand, one.attempt)) {
      one.over_at = step_.now + kReportsMax;
      resumed.unsettled().insert(at->first);
    }
    at = is_its && !is_wanted ? resumed.Erase(at) : std::next(at);
  }
}

bool Survivors::TakeUp(PackageId id) {
  const auto found = deps_.resumed_attempts.all().find(id);
  if (found == deps_.resumed_attempts.all().end()) return false;
  const ResumedAttempts::Resumed was = found->second;
  Attempt& attempt = deps_.attempts.at(was.attempt);
  const bool is_over = was.over_at != absl::InfiniteFuture();
  const bool is_awaited = is_over ? step_.now < was.over_at : IsAwaited(was);
  if (is_awaited) {
    if (packages_[id].state == State::kSaveStalled)
      graph_.lifecycle().SetState(id, State::kLoad, "its worker is expected");
    graph_.lifecycle().BackOff(id, step_.now + kLookAgain);
    return true;
  }
  deps_.resumed_attempts.Erase(found);
  // Whether the package's resources are free was not looked at yet.
  const bool comes_again = packages_[id].resource_group != 0;
  if (is_over) return comes_again;
  const record::Generated* generated = packages_[id].generated.get();
  const bool is_same_source =
      was.generated_source.has_value()
          ? generated != nullptr && generated->source == *was.generated_source
          : generated == nullptr;
  const PlatformMask platforms = InPhase(packages_[id], Phase::kToCook);
  if (!is_same_source || attempt.platform_set != step_.platform_sets.present() ||
      (platforms & ~attempt.remaining) != 0 ||
      !deps_.eligibility.Has(attempt.worker, *workers_.Find(attempt.worker), id) ||
      !deps_.grants.IsFree(packages_[id].resource_group) ||
      !deps_.reservations.MayTakeAt(id, attempt.worker)) {
    effects_.DesireFor(attempt.worker).cancel.push_back(was.attempt);
    return comes_again;
  }
  attempt.remaining = platforms;
  attempt.content = packages_[id].content;
  attempt.is_current = true;
  attempt.group = packages_[id].resource_group;
  attempt.expected = CostOf(packages_[id], deps_.costs);
  attempt.is_partial = true;  // nobody has seen how long the whole took
  attempt.is_loaded = was.has_begun;
  attempt.is_earlier = false;
  deps_.job_handover.PutInHand(id);
  deps_.job_handover.Hold(was.attempt, attempt);
  deps_.job_handover.SetHandedOver(id, was.attempt);
  deps_.package_progress.Advance(id);
  claimants_.Count(id, &Counters::jobs_resumed);
  return true;
}

void Survivors::DropUnwanted() {
  ResumedAttempts& resumed = deps_.resumed_attempts;
  if (resumed.empty() || !graph_.queues().requests().empty() ||
      deps_.cache_queries.in_flight() > 0 || !graph_.agenda().empty() ||
      !claimants_.IsAllSelected() || step_.awake - dropped_at_ < kLookAgain)
    return;
  dropped_at_ = step_.awake;
  for (auto at = resumed.all().begin(); at != resumed.all().end();) {
    // An attempt that may hold resources goes on until its worker has heard that it is not wanted.
    const bool is_unwanted =
        packages_[at->first].work == nullptr && (!IsAwaited(at->second) || GroupOf(at->first) == 0);
    if (is_unwanted)
      effects_.DesireFor(deps_.attempts.at(at->second.attempt).worker)
          .cancel.push_back(at->second.attempt);
    at = is_unwanted ? resumed.Erase(at) : std::next(at);
  }
}

// True: the attempt's worker has not spoken yet.
bool Survivors::IsAwaited(const ResumedAttempts::Resumed& one) const {
  const WorkerId worker = deps_.attempts.at(one.attempt).worker;
  return workers_.Find(worker)->presence == Worker::Presence::kStarting;
}

// The group of the package's resources; nullopt: the group is not known.
std::optional<uint32_t> Survivors::GroupOf(PackageId id) const {
  const PackageData& package = packages_[id];
  if (package.work != nullptr && package.work->has_begun) return package.resource_group;
  if (!GeneratorName(package.name).empty()) return std::nullopt;
  const std::optional<CatalogEntry> entry = step_.catalog->Find(package.name);
  uint32_t group = 0;
  std::string why;
  return entry.has_value() && deps_.grants.GroupOf(entry->resources, &group, &why) ? group : 0;
}

void Survivors::HoldResources() {
  ResumedAttempts& resumed = deps_.resumed_attempts;
  resumed.SetUnsure(false);
  // By another catalog a package may ask for other resources.
  if (std::exchange(settled_epoch_, step_.epoch) != step_.epoch) {
    for (const auto& [package, one] : resumed.all()) resumed.unsettled().insert(package);
  }
  absl::btree_set<PackageId>& unsettled = resumed.unsettled();
  for (auto at = unsettled.begin(); at != unsettled.end();)
    at = SettleHold(*at, resumed.all().at(*at)) ? unsettled.erase(at) : std::next(at);
}

// True: the attempt holds its package's resources, or will hold nothing.
bool Survivors::SettleHold(PackageId package, const ResumedAttempts::Resumed& one) {
  if (one.over_at != absl::InfiniteFuture()) {
    deps_.grants.Release(one.attempt);
    return true;
  }
  if (deps_.grants.Holds(one.attempt)) return true;
  const std::optional<uint32_t> group = GroupOf(package);
  if (group == 0) return true;
  const WorkerId worker = deps_.attempts.at(one.attempt).worker;
  if (!group.has_value() || IsAwaited(one)) {
    deps_.resumed_attempts.SetUnsure(true);
    return false;
  }
  if (!deps_.grants.IsFreeBeside(*group, 0) || !deps_.grants.IsFreeAt(*group, worker)) return false;
  deps_.grants.Acquire(one.attempt, *group, worker);
  return true;
}

}  // namespace galley::director
