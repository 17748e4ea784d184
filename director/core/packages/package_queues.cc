#include "director/core/packages/package_queues.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::director {

bool WaitsForOutput(const Work& work) {
  return std::ranges::any_of(work.waits, [](const Wait& wait) { return wait.is_certain; });
}

bool IsBlocked(const Work& work) {
  return work.waits_for_generator || !work.stale_path.empty() || WaitsForOutput(work);
}

bool PackageQueues::WantsLookUp(const PackageData& package) {
  if (package.state != State::kRequest || !package.work->has_begun || IsBlocked(*package.work) ||
      package.work->attempt != 0)
    return false;
  return std::ranges::any_of(package.slots,
                             [](const Slot& slot) { return slot.phase == Phase::kToLookUp; });
}

void PackageQueues::Refresh(PackageId id) {
  PackageData& package = packages_[id];
  if (WantsLookUp(package)) {
    requests_.Push(id, package.urgency);
  } else {
    requests_.Remove(id);
  }
  const bool is_backing_off =
      package.work != nullptr && backing_off_.contains({package.work->not_before, id});
  const bool is_free = package.state == State::kLoad && package.work->attempt == 0;
  const std::optional<uint32_t> parked =
      package.work != nullptr ? package.work->parked : std::nullopt;
  if (parked.has_value()) LeaveParking(id);
  if (parked.has_value() && is_free && package.work->not_before == absl::InfinitePast()) {
    package.work->parked = parked;
    parked_[*parked].Push(id, OrderOf(id));
    loads_.Remove(id);
  } else if (is_free && package.work->not_before != absl::InfinitePast() && !is_backing_off) {
    backing_off_.insert({package.work->not_before, id});
    loads_.Remove(id);
  } else if (is_free && !is_backing_off) {
    if (!loads_.Contains(id) && !std::exchange(package.work->is_aside, false)) StandInLine(id);
    loads_.Push(id, OrderOf(id));
  } else {
    loads_.Remove(id);
  }
  if (!is_free && is_backing_off) backing_off_.erase({package.work->not_before, id});
  if (package.state == State::kSaveStalled) {
    saves_.Push(id, package.resource_group,
                {.urgency = package.urgency,
                 .chain = package.cost + package.work->chain,
                 .rank = ranks_.RankOf(id),
                 .name = package.name});
  } else {
    saves_.Remove(id);
  }
}

void PackageQueues::StandInLine(PackageId id) {
  packages_[id].work->in_line = now_;
  line_.Add(id, now_, loads_.size() + 1,
            [this](const ReadyPlace& place) { return StandsInLine(place); });
}

bool PackageQueues::StandsInLine(const ReadyPlace& place) const {
  const Work* const work = packages_[place.package].work.get();
  return work != nullptr && work->in_line == place.since &&
         packages_[place.package].urgency != Urgency::kSpare &&
         (loads_.Contains(place.package) || work->is_aside);
}

bool PackageQueues::HasWantedBackingOff() const {
  return std::ranges::any_of(backing_off_, [this](const auto& one) {
    return packages_[one.second].urgency != Urgency::kSpare;
  });
}

bool PackageQueues::HasWantedParked() const {
  return std::ranges::any_of(parked_,
                             [](const auto& queue) { return queue.second.wanted_size() > 0; });
}

std::optional<absl::Time> PackageQueues::ReadySince() {
  return line_.First([this](const ReadyPlace& place) { return StandsInLine(place); });
}

LoadOrder PackageQueues::OrderOf(PackageId id) const {
  const PackageData& package = packages_[id];
  return {.runs_alone = package.work->runs_alone && package.urgency != Urgency::kBlocking,
          .urgency = package.urgency,
          .was_loaded = package.was_loaded,
          .length = LengthOf(package.cost + package.work->chain),
          .rank = ranks_.RankOf(id)};
}

void PackageQueues::LeaveParking(PackageId id) {
  std::optional<uint32_t>& parked = packages_[id].work->parked;
  const auto queue = parked_.find(*parked);
  queue->second.Remove(id);
  if (queue->second.empty()) parked_.erase(queue);
  parked.reset();
}

void PackageQueues::SetAside(PackageId id) {
  packages_[id].work->is_aside = loads_.Contains(id);
  loads_.Remove(id);
  saves_.Remove(id);
}

void PackageQueues::Park(PackageId id, uint32_t queue) {
  packages_[id].work->parked = queue;
  parked_[queue].Push(id, OrderOf(id));
}

void PackageQueues::BackOff(PackageId id, absl::Time until) {
  absl::Time& not_before = packages_[id].work->not_before;
  backing_off_.erase({not_before, id});
  not_before = until;
}

PackageId PackageQueues::TakeReleased(absl::Time now) {
  if (backing_off_.empty() || backing_off_.begin()->first > now) return PackageId();
  const PackageId id = backing_off_.begin()->second;
  backing_off_.erase(backing_off_.begin());
  packages_[id].work->not_before = absl::InfinitePast();
  return id;
}

void PackageQueues::Leave(PackageId id) {
  backing_off_.erase({packages_[id].work->not_before, id});
  if (packages_[id].work->parked.has_value()) LeaveParking(id);
}

void PackageQueues::CheckInvariants() const {
  size_t requests = 0, loads = 0, saves = 0, backing_off = 0, parked = 0;
  for (uint32_t i = 0; i < packages_.size(); ++i) {
    const PackageId id(i);
    const PackageData& package = packages_[id];
    GALLEY_CHECK(requests_.Contains(id) == WantsLookUp(package));
    const bool is_free = package.state == State::kLoad && package.work->attempt == 0;
    const bool waits = is_free && package.work->not_before != absl::InfinitePast();
    const bool is_parked = package.work != nullptr && package.work->parked.has_value();
    GALLEY_CHECK(!is_parked || (is_free && !waits && parked_.contains(*package.work->parked) &&
                                parked_.at(*package.work->parked).Contains(id)));
    GALLEY_CHECK(loads_.Contains(id) == (is_free && !waits && !is_parked));
    GALLEY_CHECK(!waits || backing_off_.contains({package.work->not_before, id}));
    GALLEY_CHECK(saves_.Contains(id) == (package.state == State::kSaveStalled));
    requests += WantsLookUp(package);
    loads += is_free && !waits && !is_parked;
    saves += package.state == State::kSaveStalled;
    backing_off += waits;
    parked += is_parked;
  }
  GALLEY_CHECK(requests == requests_.size() && loads == loads_.size() && saves == saves_.size());
  GALLEY_CHECK(backing_off == backing_off_.size());
  for (const auto& [queue, packages] : parked_) parked -= packages.size();
  GALLEY_CHECK(parked == 0);
}

}  // namespace galley::director
