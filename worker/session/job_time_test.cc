#include "worker/session/job_time.h"

#include <gtest/gtest.h>

namespace galley::worker {
namespace {

class JobTimeTest : public testing::Test {
 protected:
  // Looks whenever a look is due, for `duration`; the job uses `share` processors meanwhile.
  TimeUp Pass(absl::Duration duration, double share, bool wants_more) {
    const absl::Time end = now_ + duration;
    while (now_ < end && time_.up() == TimeUp::kNo) {
      now_ += absl::Milliseconds(100);
      used_ += share * absl::Milliseconds(100);
      if (!time_.IsDue(now_)) continue;
      ++looks_;
      time_.Look(now_, {.below = 0, .time = used_, .wants_more = wants_more});
    }
    return time_.up();
  }
  absl::Duration Passed() const { return now_ - absl::UnixEpoch(); }

  absl::Time now_ = absl::UnixEpoch();
  absl::Duration used_ = absl::Seconds(1000);  // for earlier jobs
  int looks_ = 0;
  JobTime time_;
};

TEST_F(JobTimeTest, WhatUsesTheProcessorHasItsTime) {
  time_.Begin(now_, absl::Seconds(10));
  EXPECT_EQ(Pass(absl::Minutes(1), 1, true), TimeUp::kProcessor);
  EXPECT_LE(Passed(), absl::Seconds(10.3));
  EXPECT_GE(Passed(), absl::Seconds(10));
}

TEST_F(JobTimeTest, TimeThatIsLeftOutIsNotWaitedFor) {
  time_.Begin(now_, absl::Seconds(10));
  EXPECT_EQ(Pass(absl::Seconds(12), 0.3, true), TimeUp::kNo);  // the job is watched by now
  now_ += absl::Minutes(5);                                    // bytes were fetched
  time_.LeaveOut(absl::Minutes(5));
  EXPECT_EQ(Pass(absl::Seconds(5), 0.3, true), TimeUp::kNo);
}

TEST_F(JobTimeTest, ABusyMachineTakesNothingOfIt) {
  time_.Begin(now_, absl::Seconds(10));
  EXPECT_EQ(Pass(absl::Seconds(19), 0.5, true), TimeUp::kNo);
  EXPECT_EQ(Pass(absl::Seconds(2), 0.5, true), TimeUp::kProcessor);
}

// The job has used its time, however long it took, and although it waited for a while.
TEST_F(JobTimeTest, WhatHasUsedItsTimeHasUsedItOnABusyMachineToo) {
  time_.Begin(now_, absl::Seconds(10));
  EXPECT_EQ(Pass(absl::Seconds(60), 0.1, true), TimeUp::kNo);
  EXPECT_EQ(Pass(absl::Seconds(3), 0, false), TimeUp::kNo);
  EXPECT_EQ(time_.Look(now_ + absl::Milliseconds(100),
                       {.below = 1, .time = used_ + absl::Seconds(5), .wants_more = false}),
            TimeUp::kProcessor);
}

TEST_F(JobTimeTest, ManyThreadsHaveNoLessThanOne) {
  time_.Begin(now_, absl::Seconds(10));
  EXPECT_EQ(Pass(absl::Seconds(9), 8, true), TimeUp::kNo);
  EXPECT_EQ(Pass(absl::Seconds(2), 8, true), TimeUp::kProcessor);
}

TEST_F(JobTimeTest, WhatWaitsEndsAfterTwiceItsTime) {
  time_.Begin(now_, absl::Seconds(10));
  EXPECT_EQ(Pass(absl::Seconds(19), 0, false), TimeUp::kNo);
  EXPECT_EQ(Pass(absl::Seconds(2), 0, false), TimeUp::kWaiting);
}

TEST_F(JobTimeTest, WhatWaitsNowAndThenEndsSooner) {
  time_.Begin(now_, absl::Seconds(10));
  EXPECT_EQ(Pass(absl::Seconds(10), 0.5, true), TimeUp::kNo);
  EXPECT_EQ(Pass(absl::Seconds(6), 0, false), TimeUp::kWaiting);
}

TEST_F(JobTimeTest, WhatGetsNothingEndsByTheClock) {
  time_.Begin(now_, absl::Minutes(2));
  EXPECT_EQ(Pass(absl::Minutes(19), 0, true), TimeUp::kNo);
  EXPECT_EQ(Pass(absl::Minutes(2), 0, true), TimeUp::kClock);
  time_.Begin(now_, absl::Seconds(1));
  EXPECT_EQ(Pass(absl::Minutes(9), 0, true), TimeUp::kNo) << "a short one has ten minutes";
  EXPECT_EQ(Pass(absl::Minutes(2), 0, true), TimeUp::kClock);
}

TEST_F(JobTimeTest, WhyItsTimeWasUpIsNotForgottenWhileItIsEnded) {
  time_.Begin(now_, absl::Seconds(10));
  ASSERT_EQ(Pass(absl::Minutes(1), 1, true), TimeUp::kProcessor);
  const absl::Duration left = absl::Seconds(1000);  // of the executor alone, whose program is gone
  for (int i = 0; i < 300; ++i) {
    now_ += absl::Milliseconds(100);
    EXPECT_EQ(time_.Look(now_, {.below = 0, .time = left, .wants_more = false}),
              TimeUp::kProcessor);
  }
}

TEST_F(JobTimeTest, ProcessesThatAreGoneAreNoTimeThatComesBack) {
  time_.Begin(now_, absl::Seconds(10));
  EXPECT_EQ(Pass(absl::Seconds(5), 1, true), TimeUp::kNo);
  used_ -= absl::Seconds(500);
  EXPECT_EQ(Pass(absl::Seconds(16), 0, false), TimeUp::kWaiting);
}

TEST_F(JobTimeTest, AJobWithinItsTimeIsLookedAtOnce) {
  time_.Begin(now_, absl::Seconds(10));
  Pass(absl::Seconds(9), 1, true);
  EXPECT_EQ(looks_, 1);
  time_.Begin(now_, absl::Seconds(10));
  EXPECT_FALSE(time_.IsDue(now_ + absl::Milliseconds(50)));
}

TEST_F(JobTimeTest, WaitingForTheSessionIsLeftOut) {
  time_.Begin(now_, absl::Seconds(10));
  time_.LeaveOut(absl::Seconds(5));
  EXPECT_EQ(Pass(absl::Seconds(14), 1, true), TimeUp::kNo);
}

TEST_F(JobTimeTest, WithoutAJobNothingIsDue) { EXPECT_FALSE(time_.IsDue(absl::Now())); }

}  // namespace
}  // namespace galley::worker
