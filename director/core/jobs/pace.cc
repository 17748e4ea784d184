#include "director/core/jobs/pace.h"

#include <algorithm>
#include <cmath>

namespace galley::director {
namespace {

// Slow workers are seen soon, and forgotten slowly: a short job of an unknown cost says little.
constexpr double kShareOfASlower = 0.5, kShareOfAFaster = 0.2;
// The same job was measured elsewhere: its cost is no guess.
constexpr double kShareOfACompared = 0.9;
constexpr absl::Duration kLeast = absl::Microseconds(1);

double LogOf(absl::Duration expected, absl::Duration ran) {
  return std::log(absl::FDivDuration(std::max(ran, kLeast), std::max(expected, kLeast)));
}

}  // namespace

void Pace::AddMeasurement(absl::Duration expected, absl::Duration ran) {
  const double log = LogOf(expected, ran);
  log_ += (log > log_ ? kShareOfASlower : kShareOfAFaster) * (log - log_);
}

void Pace::AddOutrun(absl::Duration took, absl::Duration ran) {
  const double log = LogOf(took, ran);
  if (log > std::max(log_, 0.0)) log_ += kShareOfACompared * (log - log_);
}

double Pace::Factor() const { return std::exp(log_); }

}  // namespace galley::director
