#include "director/core/overruns.h"

#include <algorithm>
#include <cmath>

namespace galley::director {
namespace {

constexpr absl::Duration kTellsSomething = absl::Milliseconds(100);
constexpr uint64_t kEnough = 20;
constexpr double kFirstFactor = 4, kFactorMin = 1.5, kFactorMax = 64;
constexpr double kFirstClass = -8;  // 2 ^ (-8 / 2)

}  // namespace

void Overruns::Measured(absl::Duration expected, absl::Duration ran) {
  if (expected < kTellsSomething && ran < kTellsSomething) return;
  const double ratio =
      absl::FDivDuration(std::max(ran, absl::Duration(absl::Microseconds(1))),
                         std::max(expected, absl::Duration(absl::Microseconds(1))));
  const double at = std::floor(2 * std::log2(ratio)) - kFirstClass;
  ++counts_[static_cast<size_t>(std::clamp(at, 0.0, kClasses - 1.0))];
  ++total_;
}

absl::Duration Overruns::Limit(absl::Duration expected) const {
  if (total_ < kEnough) return kFirstFactor * expected;
  uint64_t left = total_ - total_ / 20;
  int at = 0;
  for (; at < kClasses - 1 && counts_[static_cast<size_t>(at)] < left; ++at)
    left -= counts_[static_cast<size_t>(at)];
  const double factor = std::exp2((at + 1 + kFirstClass) / 2);  // where the class ends
  return std::clamp(factor, kFactorMin, kFactorMax) * expected;
}

}  // namespace galley::director
