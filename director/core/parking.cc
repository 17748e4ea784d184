#include "director/core/parking.h"

#include <algorithm>
#include <utility>

#include "director/core/core.h"

namespace galley::director {

size_t Parking::CountForHelpers() const {
  size_t count = 0;
  for (const auto& [kind, queue] : lifecycle().parked()) {
    const bool is_proof = HeldResults::IsQueue(kind);
    if (!core_.offers.IsOfLocal(is_proof ? core_.offers.KindOf(queue.Top()) : kind)) continue;
    const bool needs_helper =
        is_proof ? core_.proofs.NeedsHome(queue.Top())
                 : core_.offers.FleetLacks(kind) || !core_.offers.HasElsewhere(kind);
    count += needs_helper ? queue.size() : 0;
  }
  return count;
}

size_t Parking::CountForFleet() const {
  size_t count = 0;
  for (const auto& [kind, queue] : lifecycle().parked()) {
    if (!HeldResults::IsQueue(kind) && core_.offers.IsDemanding(kind) &&
        core_.offers.MayBeLaunched(kind))
      count += queue.size();
  }
  return count;
}

// The worker lacks its kind, or its machine has not enough of what it asks for now.
bool Parking::CannotHaveNow(PackageId package, uint32_t kind, WorkerId worker) const {
  return core_.offers.Lacks(worker, *workers_.Find(worker), kind) ||
         !core_.reservations.MayTakeAt(package, worker);
}

void Parking::ParkBeyondFleet(PackageId package) {
  if (options_.fleet.max == 0 || !lifecycle().loads().Contains(package)) return;
  const uint32_t kind = core_.offers.KindOf(package);
  if (core_.offers.IsDemanding(kind) && core_.offers.FleetLacks(kind) &&
      !core_.held_results.IsHeld(package))
    lifecycle().Park(package, kind);
}

bool Parking::Park(PackageId package) {
  if (parked_ >= kParkedMax) return false;
  if (core_.held_results.IsHeld(package)) {
    lifecycle().Park(package, core_.held_results.QueueOf(package));
    ++parked_;
    return true;
  }
  if (!core_.offers.has_lacking()) return false;
  const uint32_t kind = core_.offers.KindOf(package);
  bool holds_up = core_.offers.FleetLacks(kind) ||
                  std::any_of(workers_.with_room().begin(), workers_.with_room().end(),
                              [&](const WorkerTable::Load& load) {
                                return CannotHaveNow(package, kind, load.worker);
                              });
  // (A Blocking one needs no room; but others, which could go somewhere, wait behind it.)
  if (!holds_up && packages_[package].urgency == Urgency::kBlocking)
    holds_up = std::any_of(workers_.ring().begin(), workers_.ring().end(),
                           [&](WorkerId worker) { return CannotHaveNow(package, kind, worker); });
  if (!holds_up) return false;
  lifecycle().Park(package, kind);
  ++parked_;
  return true;
}

void Parking::BeginCook() {
  if (lifecycle().in_works() == 0) unoffered_since_.clear();  // numbers of kinds are given again
}

void Parking::ParkForHelpers() {
  parked_ = 0;
  if (options_.fleet.max == 0) return;
  for (const PackageId package : std::exchange(beyond_fleet_, {})) ParkBeyondFleet(package);
  const LoadQueue& loads = lifecycle().loads();
  while (!loads.empty() && parked_ < kParkedMax &&
         core_.offers.FleetLacks(core_.offers.KindOf(loads.Top()))) {
    const PackageId first = loads.Top();
    lifecycle().Park(first, core_.offers.KindOf(first));
    ++parked_;
  }
}

void Parking::Unpark() {
  if (lifecycle().parked().empty()) return unoffered_since_.clear();
  std::vector<uint32_t> kinds;
  for (const auto& [kind, queue] : lifecycle().parked()) kinds.push_back(kind);
  for (const uint32_t kind : kinds) {
    if (HeldResults::IsQueue(kind)) {
      // (Settling one queue may let go of another.)
      if (lifecycle().parked().contains(kind) && core_.proofs.IsOffered(kind)) UnparkOf(kind);
    } else if (core_.offers.IsOffered(kind)) {
      unoffered_since_.erase(kind);
      UnparkOf(kind);
    } else if (today_.awake - unoffered_since_.try_emplace(kind, today_.awake).first->second >=
               options_.unoffered_max) {
      FailUnoffered(kind);
    }
  }
}

void Parking::UnparkOf(uint32_t kind) {
  for (size_t i = 0; i < kUnparkedMax; ++i) {
    const auto queue = lifecycle().parked().find(kind);
    if (queue == lifecycle().parked().end()) return;
    const PackageId first = queue->second.Top();
    if (!core_.placing.Place(first).worker.valid()) return;
    lifecycle().Unpark(first);
    if (options_.fleet.max > 0) beyond_fleet_.push_back(first);
  }
}

std::string Parking::WhyParked(PackageId id) const {
  const Work* const work = packages_[id].work.get();
  if (work == nullptr || !work->parked.has_value()) return "";
  const uint32_t kind = *work->parked;
  if (HeldResults::IsQueue(kind)) return "for another machine, to be made again there";
  if (!core_.offers.IsDemanding(kind)) return "for a worker that can cook it";
  const std::string wanted = core_.offers.WantedText(kind);
  if (core_.offers.HasAttached(kind)) return "for a worker that has it free: " + wanted;
  const std::string offered = "wanted: " + wanted + "; offered: " + core_.offers.OfferedText();
  if (core_.offers.IsOffered(kind)) return "for a worker that is to come; " + offered;
  return "in vain, and fails soon, unless a worker comes that has it; " + offered;
}

void Parking::FailUnoffered(uint32_t kind) {
  for (size_t i = 0; i < kFailedMax && !claimants_.has_stopped(); ++i) {
    const auto queue = lifecycle().parked().find(kind);
    if (queue == lifecycle().parked().end()) return;
    const PackageId package = queue->second.Top();
    lifecycle().Unpark(package);
    core_.advancing.FailPlatforms(package, InPhase(packages_[package], Phase::kToCook),
                                  Stage::kLoad, core_.offers.WhyUnoffered(kind), "",
                                  FailureCause::kMachine);
    core_.advancing.Advance(package);
  }
}

}  // namespace galley::director
