#include "director/shell/clock_offsets.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

absl::Time At(double seconds) { return absl::UnixEpoch() + absl::Seconds(seconds); }

TEST(ClockOffsetsTest, TheQuickestMessageTellsBest) {
  ClockOffsets clocks;
  // The worker's clock is 100 s behind; messages take 0.5, 0.01 and 3 s.
  clocks.Heard("w", At(0), At(100.5));
  clocks.Heard("w", At(10), At(110.01));
  clocks.Heard("w", At(20), At(123));
  EXPECT_EQ(clocks.ToOurs("w", At(15), At(130)), At(115.01));
}

TEST(ClockOffsetsTest, AClockThatIsAheadIsTakenBack) {
  ClockOffsets clocks;
  clocks.Heard("w", At(5'000), At(100));
  EXPECT_EQ(clocks.ToOurs("w", At(4'990), At(101)), At(90));
}

TEST(ClockOffsetsTest, NothingIsLaterThanNow) {
  ClockOffsets clocks;
  clocks.Heard("w", At(10), At(100));
  EXPECT_EQ(clocks.ToOurs("w", At(1'000'000), At(120)), At(120));
  EXPECT_EQ(clocks.ToOurs("other", At(1'000'000), At(120)), At(120));
}

TEST(ClockOffsetsTest, OneThatWasNotHeardHasOurClock) {
  ClockOffsets clocks;
  clocks.Heard("w", At(10), At(100));
  clocks.Forget("w");
  EXPECT_EQ(clocks.ToOurs("w", At(10), At(120)), At(10));
}

TEST(ClockOffsetsTest, AClockThatIsSetBackIsBelievedAfterAWhile) {
  ClockOffsets clocks;
  const double window = absl::ToDoubleSeconds(ClockOffsets::kWindow);
  clocks.Heard("w", At(1'000), At(1'000));
  for (double t = 1'001; t < 1'000 + 2 * window + 2; t += window / 4)
    clocks.Heard("w", At(t - 500), At(t));  // it was set back by 500 s
  clocks.Heard("w", At(500 + 2 * window + 2), At(1'000 + 2 * window + 2));
  EXPECT_EQ(clocks.ToOurs("w", At(500 + 2 * window), At(1'000 + 3 * window)),
            At(1'000 + 2 * window));
}

}  // namespace
}  // namespace galley::director
