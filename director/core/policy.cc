#include "director/core/policy.h"

#include <algorithm>
#include <tuple>

namespace galley::director {
namespace {

class CostPolicy final : public Policy {
 public:
  Shown shown() const override { return Shown::kLightestAndWarm; }
  size_t Choose(std::span<const WorkerView> workers) const override {
    const auto is_before = [](const WorkerView& a, const WorkerView& b) {
      return std::tuple(!a.is_large_enough, a.load - a.saved, a.worker) <
             std::tuple(!b.is_large_enough, b.load - b.saved, b.worker);
    };
    return static_cast<size_t>(std::min_element(workers.begin(), workers.end(), is_before) -
                               workers.begin());
  }
};

class StripedPolicy final : public Policy {
 public:
  Shown shown() const override { return Shown::kFromItsPlace; }
  size_t Choose(std::span<const WorkerView>) const override { return 0; }
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
