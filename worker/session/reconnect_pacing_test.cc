#include "worker/session/reconnect_pacing.h"

#include <algorithm>
#include <set>

#include "gtest/gtest.h"

namespace galley::worker {
namespace {

TEST(ReconnectPacingTest, WaitsDoubleWhileNobodyAnswersAndNeverAllTheSame) {
  std::set<absl::Duration> seconds;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ReconnectPacing pacing(seed);
    absl::Duration most = ReconnectPacing::kMin;
    for (int i = 0; i < 10; ++i) {
      const absl::Duration wait = pacing.Next(false);
      EXPECT_LE(wait, most);
      EXPECT_GE(wait, most / 2);
      if (i == 1) seconds.insert(wait);
      most = std::min(2 * most, absl::Duration(ReconnectPacing::kMax));
    }
    EXPECT_EQ(most, ReconnectPacing::kMax);
  }
  EXPECT_GT(seconds.size(), 10u);
}

TEST(ReconnectPacingTest, ADirectorThatSaysWhenToComeAgainIsObeyed) {
  ReconnectPacing pacing(7);
  EXPECT_GE(pacing.Next(false, absl::Seconds(5)), absl::Seconds(5));
  EXPECT_LE(pacing.Next(false, absl::Seconds(5)), absl::Seconds(6));
  EXPECT_LE(pacing.Next(false, absl::Hours(5)), absl::Seconds(61)) << "within reason";
}

TEST(ReconnectPacingTest, ADirectorThatAnsweredIsSoughtAtOnceAndEqualSeedsWaitEqually) {
  ReconnectPacing a(7), b(7);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(a.Next(false), b.Next(false));
  EXPECT_LE(a.Next(true), ReconnectPacing::kMin);
}

}  // namespace
}  // namespace galley::worker
