#include "director/core/offers.h"

#include <algorithm>

#include "common/base/sabotage.h"
#include "director/core/core.h"

namespace galley::director {
namespace {

bool Lacks(const Worker& worker, uint32_t cooker) {
  return !IsSabotaged(Sabotage::kOfferToAll) &&
         std::binary_search(worker.lacks.begin(), worker.lacks.end(), cooker);
}

}  // namespace

void Offers::SetLacks(WorkerId id, const std::vector<std::string>& cookers) {
  std::vector<uint32_t> lacks;
  for (const std::string& cooker : cookers) lacks.push_back(core_.costs.TraitsOf(cooker, 0).cooker);
  std::sort(lacks.begin(), lacks.end());
  has_lacking_ |= !lacks.empty();
  if (PoolOf(id) == Pool::kLaunched) fleet_lacks_ = {lacks.begin(), lacks.end()};
  workers_.Find(id)->lacks = std::move(lacks);
}

bool Offers::Has(const Worker& worker, PackageId package) const {
  return worker.lacks.empty() || !Lacks(worker, packages_[package].cost_traits.cooker);
}

bool Offers::HasAttached(uint32_t cooker) const {
  return std::any_of(workers_.ring().begin(), workers_.ring().end(),
                     [&](WorkerId id) { return !Lacks(*workers_.Find(id), cooker); });
}

// A worker that is about to start may have it; one of this machine has it.
bool Offers::IsOffered(uint32_t cooker) const {
  return options_.workers > 0 || options_.fleet.helpers_max > 0 || workers_.attached() == 0 ||
         HasAttached(cooker);
}

bool Offers::FleetLacks(uint32_t cooker) const {
  return options_.fleet.max > 0 &&
         (fleet_lacks_.contains(cooker) ||
          std::find(options_.fleet.lacks.begin(), options_.fleet.lacks.end(),
                    core_.costs.NameOf(cooker)) != options_.fleet.lacks.end());
}

size_t Offers::CountForHelpers() const {
  size_t count = 0;
  for (const auto& [cooker, queue] : lifecycle().parked())
    count += FleetLacks(cooker) || !HasAttached(cooker) ? queue.size() : 0;
  return count;
}

bool Offers::Park(PackageId package) {
  if ((!has_lacking_ && options_.fleet.lacks.empty()) || parked_ >= kParkedMax) return false;
  const uint32_t cooker = packages_[package].cost_traits.cooker;
  const bool holds_up =
      FleetLacks(cooker) || std::any_of(workers_.with_room().begin(), workers_.with_room().end(),
                                        [&](const Workers::Load& load) {
                                          return Lacks(*workers_.Find(load.worker), cooker);
                                        });
  if (!holds_up) return false;
  lifecycle().Park(package);
  ++parked_;
  return true;
}

void Offers::ParkForHelpers() {
  parked_ = 0;
  if (options_.fleet.max == 0) return;
  const LoadQueue& loads = lifecycle().loads();
  while (!loads.empty() && parked_ < kParkedMax &&
         FleetLacks(packages_[loads.Top()].cost_traits.cooker)) {
    lifecycle().Park(loads.Top());
    ++parked_;
  }
}

void Offers::Unpark() {
  if (lifecycle().parked().empty()) return unoffered_since_.clear();
  std::vector<uint32_t> cookers;
  for (const auto& [cooker, queue] : lifecycle().parked()) cookers.push_back(cooker);
  for (const uint32_t cooker : cookers) {
    if (IsOffered(cooker)) {
      unoffered_since_.erase(cooker);
      UnparkOf(cooker);
    } else if (core_.awake - unoffered_since_.try_emplace(cooker, core_.awake).first->second >=
               options_.unoffered_max) {
      FailUnoffered(cooker);
    }
  }
}

void Offers::UnparkOf(uint32_t cooker) {
  for (size_t i = 0; i < kUnparkedMax; ++i) {
    const auto queue = lifecycle().parked().find(cooker);
    if (queue == lifecycle().parked().end()) return;
    const PackageId first = queue->second.Top();
    if (!core_.placing.Place(first).worker.valid()) return;
    lifecycle().Unpark(first);
  }
}

void Offers::FailUnoffered(uint32_t cooker) {
  for (size_t i = 0; i < kFailedMax && !core_.cooks.has_stopped(); ++i) {
    const auto queue = lifecycle().parked().find(cooker);
    if (queue == lifecycle().parked().end()) return;
    const PackageId package = queue->second.Top();
    lifecycle().Unpark(package);
    core_.advancing.FailPlatforms(
        package, core_.advancing.InPhase(package, Phase::kToCook), Stage::kLoad,
        "no worker can cook it: wanted is the cooker \"" + core_.costs.NameOf(cooker) +
            "\" as this director knows it; none of the " + std::to_string(workers_.attached()) +
            " workers that are attached has it (another build, or a machine without the project), "
            "and no launcher starts others",
        "", FailureCause::kMachine);
    core_.advancing.Advance(package);
  }
}

}  // namespace galley::director
