#include "director/core/packages/monitor.h"

#include <algorithm>
#include <numeric>

namespace galley::director {
namespace {

// Costs that come out otherwise by more than this tell of a mistake, not of the machine.
constexpr double kCorrectionMax = 10;

}  // namespace

void Monitor::Advance(absl::Time now) {
  if (!begun_) begun_ = now;
  now_ = now;
  const absl::Duration bucket_length = kWindow / static_cast<int64_t>(kBuckets);
  const int64_t bucket = (now - *begun_) / bucket_length;
  const int64_t passed = std::min<int64_t>(bucket - bucket_, kBuckets);
  for (int64_t i = 1; i <= passed; ++i) {
    Bucket& old = buckets_[static_cast<size_t>(bucket_ + i) % kBuckets];
    sum_.results -= old.results;
    sum_.cooked -= old.cooked;
    old = Bucket();
  }
  bucket_ = bucket;
}

void Monitor::CountResult(bool is_cooked) {
  Bucket& bucket = buckets_[static_cast<size_t>(bucket_) % kBuckets];
  ++bucket.results;
  ++sum_.results;
  bucket.cooked += is_cooked;
  sum_.cooked += is_cooked;
}

void Monitor::AddExpected(absl::Duration cost) {
  ++to_cook_;
  expected_ += cost;
}

void Monitor::RemoveExpected(absl::Duration cost) {
  --to_cook_;
  expected_ -= cost;
}

void Monitor::AddMeasurement(absl::Duration expected, absl::Duration measured) {
  attempts_expected_ += expected;
  attempts_measured_ += measured;
}

uint32_t Monitor::In(State state) const {
  const auto& counts = packages_[static_cast<size_t>(state)];
  return std::accumulate(counts.begin(), counts.end(), 0u);
}

uint32_t Monitor::InCook() const {
  uint32_t count = 0;
  for (const auto& urgencies : packages_) {
    for (const uint32_t one : urgencies) count += one;
  }
  return count;
}

double Monitor::Correction() const {
  if (attempts_expected_ <= absl::ZeroDuration()) return 1;
  return std::clamp(absl::FDivDuration(attempts_measured_, attempts_expected_), 1 / kCorrectionMax,
                    kCorrectionMax);
}

// A job that outlasts its expected time has as much time left as it is late: costs have long tails.
absl::Duration Monitor::Left(uint32_t slots, std::span<const RunningJob> running) const {
  absl::Duration work = Work(), last;
  for (const RunningJob& job : running) {
    const absl::Duration expected = job.expected * Correction();
    work -= std::min(job.ran, expected);
    last = std::max(last, job.ran < expected ? expected - job.ran : job.ran - expected);
  }
  return std::max(last, work / std::max(slots, 1u));
}

Progress Monitor::View(uint32_t slots, std::span<const RunningJob> running) const {
  Progress view{.packages = packages_, .to_cook = to_cook_};
  const uint32_t in_cook = InCook();
  view.unknown = in_cook - std::min(in_cook, over_ + to_cook_);
  if (begun_) {
    // The present bucket is not over: the window is as long as the time that it has seen.
    const absl::Duration seen = std::min(now_ - *begun_, kWindow);
    if (seen > absl::ZeroDuration()) {
      view.results_per_second = sum_.results / absl::ToDoubleSeconds(seen);
      view.cooked_per_second = sum_.cooked / absl::ToDoubleSeconds(seen);
    }
  }
  if (over_ > 0 || to_cook_ > 0) view.left = Left(slots, running);
  return view;
}

absl::Duration Monitor::Work() const {
  const uint32_t in_cook = InCook();
  const uint32_t unknown = in_cook - std::min(in_cook, over_ + to_cook_);
  const absl::Duration left = expected_ * Correction();
  if (over_ > 0) return left + attempts_measured_ / over_ * unknown;
  return to_cook_ > 0 ? left + left / to_cook_ * unknown : absl::ZeroDuration();
}

}  // namespace galley::director
