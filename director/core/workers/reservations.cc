#include "director/core/workers/reservations.h"

#include <algorithm>

namespace galley::director {
namespace {

constexpr absl::Duration kBetweenReservations = absl::Milliseconds(500);

}  // namespace

bool Reservations::Waits(PackageId id) const {
  const PackageData& package = packages_[id];
  return (package.state == State::kLoad || package.state == State::kSaveStalled) &&
         package.work->attempt == 0 && package.work->not_before == absl::InfinitePast() &&
         claimants_.IsWanted(id) && package.urgency != Urgency::kSpare &&
         !exclusive_run_.WaitsToBeAlone(id);
}

bool Reservations::IsOver() const {
  if (!IsReserved() || packages_[reserved_->package].resource_group != reserved_->group ||
      !Waits(reserved_->package))
    return true;
  const Worker* worker = workers_.Find(reserved_->worker);
  return worker == nullptr || worker->presence != Worker::Presence::kAttached ||
         worker->is_draining || !workers_.attached().IsUsable(*worker) ||
         !eligibility_.Has(reserved_->worker, *worker, reserved_->package);
}

void Reservations::Look() {
  if (reserved_.has_value() && IsOver()) reserved_.reset();
  if (!grants_.has_composite() || step_.awake - looked_at_ < kBetweenReservations) return;
  looked_at_ = step_.awake;
  std::vector<std::pair<absl::Time, PackageId>> overtaken;
  graph_.queues().saves().ForEachLine(
      [&](uint32_t, PackageId first, size_t) { Consider(first, overtaken); });
  for (const auto& [kind, queue] : graph_.queues().parked()) Consider(queue.Top(), overtaken);
  if (reserved_.has_value()) return;
  std::ranges::sort(overtaken);
  for (const auto& [since, package] : overtaken) {
    if (step_.now - since < options_.overtaken_max || Reserve(package)) return;
  }
}

// Adds the package to `overtaken` if it waits for several units, and notes since when it waits.
void Reservations::Consider(PackageId id,
                            std::vector<std::pair<absl::Time, PackageId>>& overtaken) const {
  if (!grants_.IsComposite(packages_[id].resource_group) || !Waits(id)) return;
  absl::Time& since = packages_[id].work->aside_since;
  since = std::min(since, step_.now);
  overtaken.emplace_back(since, id);
}

// False: no attached worker can ever have the package's resources. O(workers).
bool Reservations::Reserve(PackageId id) {
  Reserved reserved{.package = id, .group = packages_[id].resource_group, .worker = WorkerId()};
  uint64_t least = 0;
  for (const WorkerId at : workers_.attached().ring()) {
    const Worker& worker = *workers_.Find(at);
    if (worker.is_draining || !workers_.attached().IsUsable(worker) ||
        !eligibility_.Has(at, worker, id))
      continue;
    const uint64_t missing = grants_.MissingAt(reserved.group, at);
    if (reserved.worker.valid() && missing >= least) continue;
    reserved.worker = at;
    least = missing;
  }
  if (!reserved.worker.valid()) return false;
  reserved_ = reserved;
  return true;
}

// The package of the reservation may have ended since the last look.
bool Reservations::IsReserved() const {
  return reserved_.has_value() && packages_.Has(reserved_->package) &&
         packages_[reserved_->package].work != nullptr;
}

// True: the package is more urgent than the reservation's, as long as urgency counts.
bool Reservations::GoesBefore(PackageId id) const {
  const PackageData& reserved = packages_[reserved_->package];
  const Urgency urgency = packages_[id].urgency;
  if (urgency == Urgency::kBlocking) return true;
  return urgency > reserved.urgency &&
         step_.now - reserved.work->aside_since < options_.overtaken_by_urgent_max;
}

bool Reservations::MayTake(PackageId id) const {
  const uint32_t group = packages_[id].resource_group;
  // Among the jobs that want the same the first in their line goes: the others are behind it.
  return group == 0 || !IsReserved() || reserved_->group == group || GoesBefore(id) ||
         grants_.IsFreeBeside(group, reserved_->group);
}

bool Reservations::MayTakeAt(PackageId id, WorkerId worker) const {
  const uint32_t group = packages_[id].resource_group;
  if (group == 0) return true;
  if (!grants_.IsFreeAt(group, worker)) return false;
  return !IsReserved() || reserved_->group == group || GoesBefore(id) ||
         !grants_.IsSameMachine(reserved_->worker, worker) ||
         grants_.IsFreeAtBeside(group, reserved_->group, worker);
}

}  // namespace galley::director
