#include "director/core/workers/class_quota.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(ClassQuotaTest, LowerClassesTogetherGetATenth) {
  ClassQuota shares;
  const size_t commit = ClassQuota::ClassOf(Urgency::kHigh);
  absl::Duration higher, lower;
  for (int i = 0; i < 10'000; ++i) {
    const absl::Duration one = absl::Milliseconds(10 + i % 7);
    const absl::Duration other = absl::Milliseconds(30 + i % 5);
    if (shares.IsTurnOfLower(commit, other)) {
      shares.Spend(commit, other);
      lower += other;
    } else {
      shares.Earn(commit, one);
      higher += one;
    }
  }
  EXPECT_NEAR(absl::FDivDuration(lower, lower + higher), 0.1, 0.002);
}

TEST(ClassQuotaTest, NothingGoesBeforeWhatADeviceWaitsFor) {
  ClassQuota shares;
  const size_t now = ClassQuota::ClassOf(Urgency::kBlocking);
  shares.Earn(now, absl::Hours(100));
  EXPECT_FALSE(shares.IsTurnOfLower(now, absl::Milliseconds(1)));
}

TEST(ClassQuotaTest, NothingIsBelowTheLowestClass) {
  ClassQuota shares;
  shares.Earn(ClassQuota::ClassOf(Urgency::kLow), absl::Hours(100));
  EXPECT_FALSE(shares.IsTurnOfLower(ClassQuota::ClassOf(Urgency::kLow), absl::ZeroDuration()));
}

}  // namespace
}  // namespace galley::director
