#include "director/core/workers/shares.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

TEST(SharesTest, LowerClassesTogetherGetATenth) {
  Shares shares;
  const size_t commit = Shares::ClassOf(Urgency::kHigh);
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

TEST(SharesTest, NothingGoesBeforeWhatADeviceWaitsFor) {
  Shares shares;
  const size_t now = Shares::ClassOf(Urgency::kBlocking);
  shares.Earn(now, absl::Hours(100));
  EXPECT_FALSE(shares.IsTurnOfLower(now, absl::Milliseconds(1)));
}

TEST(SharesTest, NothingIsBelowTheLowestClass) {
  Shares shares;
  shares.Earn(Shares::ClassOf(Urgency::kLow), absl::Hours(100));
  EXPECT_FALSE(shares.IsTurnOfLower(Shares::ClassOf(Urgency::kLow), absl::ZeroDuration()));
}

}  // namespace
}  // namespace galley::director
