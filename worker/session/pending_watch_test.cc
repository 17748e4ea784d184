#include "worker/session/pending_watch.h"

#include "gtest/gtest.h"

namespace galley::worker {
namespace {

class PendingWatchTest : public ::testing::Test {
 protected:
  // Looks `after` the look before; programs and executor used `used` in between.
  bool Look(absl::Duration after, absl::Duration used, bool wants_more = false,
            uint32_t programs = 1) {
    now_ += after;
    use_.time += used;
    use_.wants_more = wants_more;
    use_.below = programs;
    return watch_.Look(now_, use_);
  }
  void Wait() {
    Look(kPeriod, kBusy);
    ASSERT_TRUE(Look(kPeriod, kIdle));
    ASSERT_TRUE(watch_.is_pending());
  }
  // The time until the next look is due.
  absl::Duration Pause() const {
    absl::Time at = now_;
    while (!watch_.IsDue(at)) at += absl::Milliseconds(10);
    return at - now_;
  }

  static constexpr absl::Duration kPeriod = PendingWatch::kPeriod;
  static constexpr absl::Duration kIdle = absl::Milliseconds(20);  // within kPeriod
  static constexpr absl::Duration kHalfBusy = absl::Milliseconds(40);
  static constexpr absl::Duration kBusy = absl::Milliseconds(60);

  absl::Time now_ = absl::UnixEpoch();
  ProcessorUse use_{.below = 0, .time = absl::Seconds(7)};  // by the executor, for earlier jobs
  PendingWatch watch_;
};

TEST_F(PendingWatchTest, AJobWaitsWhenItsProgramsUseLessThanAQuarterOfAProcessor) {
  EXPECT_FALSE(Look(kPeriod, kIdle)) << "since when, the first look cannot tell";
  EXPECT_FALSE(Look(kPeriod, absl::Milliseconds(25)));
  EXPECT_TRUE(Look(kPeriod, absl::Milliseconds(24)));
  EXPECT_TRUE(watch_.is_pending());
}

TEST_F(PendingWatchTest, AJobWithoutProgramsNeverWaits) {
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Look(kPeriod, absl::ZeroDuration(), false, 0));
  EXPECT_FALSE(Look(kPeriod, absl::ZeroDuration())) << "the first that has one";
}

// The machine has more work than processors.
TEST_F(PendingWatchTest, AProgramThatGetsNoProcessorDoesNotWait) {
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(Look(kPeriod, absl::ZeroDuration(), true));
  EXPECT_FALSE(watch_.is_pending());
}

TEST_F(PendingWatchTest, ItGoesOnAboveHalfAProcessorOnly) {
  Wait();
  EXPECT_FALSE(Look(kPeriod, kHalfBusy));
  EXPECT_FALSE(Look(kPeriod, absl::Milliseconds(50)));
  EXPECT_TRUE(Look(kPeriod, absl::Milliseconds(51)));
  EXPECT_FALSE(watch_.is_pending());
  EXPECT_FALSE(Look(kPeriod, kHalfBusy)) << "and waits again below a quarter only";
  EXPECT_TRUE(Look(kPeriod, kIdle));
}

TEST_F(PendingWatchTest, ItGoesOnWhenItWantsMoreTwiceInARow) {
  Wait();
  EXPECT_FALSE(Look(kPeriod, kIdle, true));
  EXPECT_FALSE(Look(kPeriod, kIdle, false));
  EXPECT_FALSE(Look(kPeriod, kIdle, true)) << "one that polls is seen running now and then";
  EXPECT_TRUE(Look(kPeriod, kIdle, true));
}

TEST_F(PendingWatchTest, ItGoesOnWhenAllProgramsHaveEnded) {
  Wait();
  EXPECT_TRUE(Look(kPeriod, absl::ZeroDuration(), false, 0));
  EXPECT_FALSE(Look(kPeriod, kIdle)) << "the next program is looked at anew";
  EXPECT_TRUE(Look(kPeriod, kIdle));
}

TEST_F(PendingWatchTest, ItGoesOnWhenTheExecutorSpeaks) {
  EXPECT_FALSE(watch_.EndWait());
  Wait();
  EXPECT_TRUE(watch_.EndWait());
  EXPECT_FALSE(watch_.is_pending());
  EXPECT_FALSE(Look(kPeriod, kIdle));
}

// The time of lost processes is nobody's: less time than before does not tell what the others did.
TEST_F(PendingWatchTest, WhenTimeIsLostWithAProcessItIsNotTakenToWait) {
  Look(kPeriod, kBusy);
  EXPECT_FALSE(Look(kPeriod, -absl::Seconds(1)));
  EXPECT_TRUE(Look(kPeriod, kIdle));
}

TEST_F(PendingWatchTest, WhileItWaitsLooksAreTakenWithBackOff) {
  EXPECT_EQ(Pause(), absl::ZeroDuration());
  Wait();
  EXPECT_EQ(Pause(), kPeriod);
  for (const int64_t ms : {200, 400, 800, 1000, 1000}) {
    Look(Pause(), kIdle);
    EXPECT_EQ(Pause(), absl::Milliseconds(ms));
  }
  Look(Pause(), kIdle, true);
  EXPECT_EQ(Pause(), kPeriod) << "it may have begun to work";
}

}  // namespace
}  // namespace galley::worker
