#include "director/core/workers/placement_candidate.h"

#include <algorithm>
#include <tuple>

namespace galley::director {

// The share of the least load by which a job may wait longer where its inputs are warm.
constexpr double kPatience = 0.5;

const PlacementCandidate& ChooseCandidate(std::span<const PlacementCandidate> candidates) {
  absl::Duration least = absl::InfiniteDuration();
  // The soonest end at a worker with a free slot; infinite: no slot is free.
  absl::Duration soonest = absl::InfiniteDuration();
  for (const PlacementCandidate& view : candidates) {
    least = std::min(least, view.load);
    if (view.is_large_enough && view.delay == absl::ZeroDuration())
      soonest = std::min(soonest, -view.saved);
  }
  const double patience = soonest == absl::InfiniteDuration() ? kPatience : 0;
  const auto key = [&](const PlacementCandidate& view) {
    const bool is_late = view.delay > absl::ZeroDuration() && view.delay - view.saved >= soonest;
    return std::tuple(!view.is_large_enough, is_late, view.ends_spare,
                      view.load - view.saved - view.warm * patience * least, view.worker);
  };
  return *std::ranges::min_element(
      candidates,
      [&](const PlacementCandidate& a, const PlacementCandidate& b) { return key(a) < key(b); });
}

}  // namespace galley::director
