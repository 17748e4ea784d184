#include "director/core/workers/policy.h"

#include <algorithm>
#include <tuple>

namespace galley::director {
namespace {

// The share of the least load by which a job may wait longer where its inputs are warm.
constexpr double kPatience = 0.5;

class CostPolicy final : public Policy {
 public:
  Shown shown() const override { return Shown::kLightestAndWarm; }
  size_t Choose(std::span<const PlacementCandidate> workers) const override {
    const auto is_lighter = [](const PlacementCandidate& a, const PlacementCandidate& b) {
      return a.load < b.load;
    };
    const absl::Duration least = std::min_element(workers.begin(), workers.end(), is_lighter)->load;
    // The soonest end at a worker with a free slot; infinite: no slot is free.
    absl::Duration soonest = absl::InfiniteDuration();
    for (const PlacementCandidate& view : workers) {
      if (view.is_large_enough && view.delay == absl::ZeroDuration())
        soonest = std::min(soonest, -view.saved);
    }
    const double patience = soonest == absl::InfiniteDuration() ? kPatience : 0;
    const auto key = [&](const PlacementCandidate& view) {
      const bool is_late = view.delay > absl::ZeroDuration() && view.delay - view.saved >= soonest;
      return std::tuple(!view.is_large_enough, is_late,
                        view.load - view.saved - view.warm * patience * least, view.worker);
    };
    const auto is_before = [&](const PlacementCandidate& a, const PlacementCandidate& b) {
      return key(a) < key(b);
    };
    return static_cast<size_t>(std::min_element(workers.begin(), workers.end(), is_before) -
                               workers.begin());
  }
};

class StripedPolicy final : public Policy {
 public:
  Shown shown() const override { return Shown::kFromItsPlace; }
  size_t Choose(std::span<const PlacementCandidate>) const override { return 0; }
};

}  // namespace

std::unique_ptr<Policy> MakePolicy(PlacementPolicy policy) {
  switch (policy) {
    case PlacementPolicy::kCost:
      return std::make_unique<CostPolicy>();
    case PlacementPolicy::kStriped:
      return std::make_unique<StripedPolicy>();
  }
  return nullptr;
}

}  // namespace galley::director
