#include "director/core/jobs/overrun_histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace galley::director {
namespace {

constexpr uint64_t kFew = 4, kEnough = 20;
// At this count half of all counts are forgotten: the guesses were worse at first.
constexpr uint64_t kForgets = 1024;
constexpr double kFarther = 1.25;
constexpr double kFirstFactor = 4, kFactorMin = 1.5, kFactorMax = 64;
constexpr double kUsualShare = 0.95, kFarShare = 0.995;
constexpr double kFirstClass = -8;  // 2 ^ (-8 / 2)

}  // namespace

void OverrunHistogram::AddMeasurement(absl::Duration expected, absl::Duration ran) {
  if (expected < kTellsSomething && ran < kTellsSomething) return;
  const double ratio =
      absl::FDivDuration(std::max(ran, absl::Duration(absl::Microseconds(1))),
                         std::max(expected, absl::Duration(absl::Microseconds(1))));
  const double at = std::floor(2 * std::log2(ratio)) - kFirstClass;
  ++counts_[static_cast<size_t>(std::clamp(at, 0.0, kClasses - 1.0))];
  if (++total_ < kForgets) return;
  total_ = 0;
  for (uint64_t& count : counts_) total_ += count /= 2;
}

// The upper end of the class below which this share of the counts is. REQUIRES: something was
// measured.
double OverrunHistogram::Quantile(double share) const {
  uint64_t left = static_cast<uint64_t>(std::ceil(share * static_cast<double>(total_)));
  int at = 0;
  for (; at < kClasses - 1 && counts_[static_cast<size_t>(at)] < left; ++at)
    left -= counts_[static_cast<size_t>(at)];
  return std::exp2((at + 1 + kFirstClass) / 2);
}

absl::Duration OverrunHistogram::Limit(absl::Duration expected) const {
  if (total_ < kEnough) return kFirstFactor * expected;
  return std::clamp(Quantile(kUsualShare), kFactorMin, kFactorMax) * expected;
}

absl::Duration OverrunHistogram::FarLimit(absl::Duration expected) const {
  if (total_ < kEnough) return 2 * Limit(expected);
  return std::max(kFarther * Limit(expected), std::min(Quantile(kFarShare), kFactorMax) * expected);
}

double OverrunHistogram::Usual() const {
  return total_ < kFew ? std::numeric_limits<double>::infinity() : Quantile(0.5);
}

}  // namespace galley::director
