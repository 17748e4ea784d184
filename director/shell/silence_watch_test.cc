#include "director/shell/silence_watch.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

class SilenceWatchTest : public ::testing::Test {
 protected:
  bool IsDueAfter(absl::Duration since) { return watch_.IsDue(now_ += since); }

  absl::Time now_ = absl::UnixEpoch();
  SilenceWatch watch_;
};

TEST_F(SilenceWatchTest, LooksAreTakenSomeTimeApart) {
  EXPECT_TRUE(IsDueAfter(absl::ZeroDuration()));
  EXPECT_FALSE(IsDueAfter(absl::Milliseconds(99)));
  EXPECT_TRUE(IsDueAfter(absl::Milliseconds(1)));
}

TEST_F(SilenceWatchTest, SilenceSaysNothingUntilThisProcessHasListenedForAsLong) {
  EXPECT_TRUE(IsDueAfter(absl::ZeroDuration()));
  EXPECT_FALSE(watch_.HasListened(now_));
  for (int i = 0; i < 29; ++i) IsDueAfter(SilenceWatch::kSilentMax / 30);
  EXPECT_FALSE(watch_.HasListened(now_));
  IsDueAfter(SilenceWatch::kSilentMax / 30);
  EXPECT_TRUE(watch_.HasListened(now_));
}

TEST_F(SilenceWatchTest, AfterAPauseOfThisProcessItListensAnew) {
  for (int i = 0; i < 40; ++i) IsDueAfter(SilenceWatch::kSilentMax / 30);
  ASSERT_TRUE(watch_.HasListened(now_));
  EXPECT_TRUE(IsDueAfter(absl::Milliseconds(1001)));
  EXPECT_FALSE(watch_.HasListened(now_));
}

}  // namespace
}  // namespace galley::director
