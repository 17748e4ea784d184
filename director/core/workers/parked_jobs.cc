#include "director/core/workers/parked_jobs.h"

#include <algorithm>
#include <utility>

namespace galley::director {

size_t ParkedJobs::CountForHelpers() const {
  size_t count = 0;
  for (const auto& [kind, queue] : graph_.queues().parked()) {
    const bool is_proof = HeldResults::IsQueue(kind);
    if (!deps_.eligibility.IsOfLocal(is_proof ? deps_.eligibility.KindOf(queue.Top()) : kind))
      continue;
    const bool needs_helper =
        is_proof ? deps_.proofs.NeedsHome(queue.Top())
                 : deps_.eligibility.FleetLacks(kind) || !deps_.eligibility.HasElsewhere(kind);
    count += needs_helper ? queue.wanted_size() : 0;
  }
  return count;
}

size_t ParkedJobs::CountForFleet() const {
  size_t count = 0;
  for (const auto& [kind, queue] : graph_.queues().parked()) {
    if (!HeldResults::IsQueue(kind) && deps_.eligibility.IsDemanding(kind) &&
        deps_.eligibility.MayBeLaunched(kind))
      count += queue.wanted_size();
  }
  return count;
}

// True: the worker lacks the kind, or its machine has not enough of the package's resources now.
bool ParkedJobs::CannotHaveNow(PackageId package, uint32_t kind, WorkerId worker) const {
  return deps_.eligibility.Lacks(worker, *workers_.Find(worker), kind) ||
         !deps_.reservations.MayTakeAt(package, worker);
}

void ParkedJobs::ParkBeyondFleet(PackageId package) {
  if (options_.fleet.max == 0 || !graph_.queues().loads().Contains(package) ||
      packages_[package].urgency == Urgency::kSpare)
    return;
  const uint32_t kind = deps_.eligibility.KindOf(package);
  if (deps_.eligibility.IsDemanding(kind) && deps_.eligibility.FleetLacks(kind) &&
      !deps_.held_results.IsHeld(package))
    graph_.lifecycle().Park(package, kind);
}

bool ParkedJobs::Park(PackageId package) {
  if (parked_ >= kParkedMax) return false;
  if (deps_.held_results.IsHeld(package)) {
    graph_.lifecycle().Park(package, deps_.held_results.QueueOf(package));
    ++parked_;
    return true;
  }
  if (!deps_.eligibility.has_lacking()) return false;
  const uint32_t kind = deps_.eligibility.KindOf(package);
  bool holds_up =
      deps_.eligibility.FleetLacks(kind) ||
      std::ranges::any_of(workers_.attached().with_room(), [&](const WorkerIndex::Load& load) {
        return CannotHaveNow(package, kind, load.worker);
      });
  // A Blocking job needs no room; but others, which could go somewhere, wait behind it.
  if (!holds_up && packages_[package].urgency == Urgency::kBlocking)
    holds_up = std::ranges::any_of(workers_.attached().ring(), [&](WorkerId worker) {
      return CannotHaveNow(package, kind, worker);
    });
  if (!holds_up) return false;
  graph_.lifecycle().Park(package, kind);
  ++parked_;
  return true;
}

void ParkedJobs::BeginCook() {
  if (graph_.lifecycle().in_works() == 0)
    unoffered_since_.clear();  // numbers of kinds are given again
}

void ParkedJobs::ParkForHelpers() {
  parked_ = 0;
  if (options_.fleet.max == 0) return;
  for (const PackageId package : std::exchange(beyond_fleet_, {})) ParkBeyondFleet(package);
  const LoadQueue& loads = graph_.queues().loads();
  while (loads.wanted_size() > 0 && parked_ < kParkedMax &&
         deps_.eligibility.FleetLacks(deps_.eligibility.KindOf(loads.Top()))) {
    const PackageId first = loads.Top();
    graph_.lifecycle().Park(first, deps_.eligibility.KindOf(first));
    ++parked_;
  }
}

void ParkedJobs::Unpark() {
  if (graph_.queues().parked().empty()) return unoffered_since_.clear();
  std::vector<uint32_t> kinds;
  for (const auto& [kind, queue] : graph_.queues().parked()) kinds.push_back(kind);
  for (const uint32_t kind : kinds) {
    if (HeldResults::IsQueue(kind)) {
      // Settling one queue may let go of another queue.
      if (graph_.queues().parked().contains(kind) && deps_.proofs.IsOffered(kind)) UnparkOf(kind);
    } else if (deps_.eligibility.IsOffered(kind)) {
      unoffered_since_.erase(kind);
      UnparkOf(kind);
    } else if (step_.awake - unoffered_since_.try_emplace(kind, step_.awake).first->second >=
               options_.unoffered_max) {
      FailUnoffered(kind);
    }
  }
}

void ParkedJobs::UnparkOf(uint32_t kind) {
  for (size_t i = 0; i < kUnparkedMax; ++i) {
    const auto queue = graph_.queues().parked().find(kind);
    if (queue == graph_.queues().parked().end()) return;
    const PackageId first = queue->second.Top();
    if (!deps_.worker_choice.Place(first).worker.valid()) return;
    graph_.lifecycle().Unpark(first);
    if (options_.fleet.max > 0) beyond_fleet_.push_back(first);
  }
}

std::string ParkedJobs::WhyParked(PackageId id) const {
  const Work* const work = packages_[id].work.get();
  if (work == nullptr || !work->parked.has_value()) return "";
  const uint32_t kind = *work->parked;
  if (HeldResults::IsQueue(kind)) return "for another machine, to be made again there";
  if (!deps_.eligibility.IsDemanding(kind)) return "for a worker that can cook it";
  const std::string wanted = deps_.eligibility.WantedText(kind);
  if (deps_.eligibility.HasAttached(kind)) return "for a worker that has it free: " + wanted;
  const std::string offered = "wanted: " + wanted + "; offered: " + deps_.eligibility.OfferedText();
  if (deps_.eligibility.IsOffered(kind)) return "for a worker that is to come; " + offered;
  return "in vain, and fails soon, unless a worker comes that has it; " + offered;
}

void ParkedJobs::FailUnoffered(uint32_t kind) {
  for (size_t i = 0; i < kFailedMax && !claimants_.has_stopped(); ++i) {
    const auto queue = graph_.queues().parked().find(kind);
    if (queue == graph_.queues().parked().end()) return;
    const PackageId package = queue->second.Top();
    graph_.lifecycle().Unpark(package);
    deps_.package_progress.FailPlatforms(package, InPhase(packages_[package], Phase::kToCook),
                                         Stage::kLoad, deps_.eligibility.WhyUnoffered(kind), "",
                                         FailureCause::kMachine);
    deps_.package_progress.Advance(package);
  }
}

}  // namespace galley::director
