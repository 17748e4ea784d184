#include "director/core/packages/monitor.h"

#include "gtest/gtest.h"

namespace galley::director {
namespace {

constexpr absl::Time kStart = absl::UnixEpoch();

class MonitorTest : public testing::Test {
 protected:
  void SetUp() override { monitor_.Advance(kStart); }
  void Enter(uint32_t packages, State state = State::kRequest) {
    for (uint32_t i = 0; i < packages; ++i) monitor_.Enter(state, Urgency::kNormal);
  }
  Monitor monitor_;
};

TEST_F(MonitorTest, PackagesAreCountedByStateAndUrgency) {
  monitor_.Enter(State::kIdle, Urgency::kHigh);
  monitor_.Leave(State::kIdle, Urgency::kHigh);
  monitor_.Enter(State::kLoad, Urgency::kHigh);
  monitor_.Enter(State::kLoad, Urgency::kBlocking);
  const Progress view = monitor_.View(1);
  EXPECT_EQ(view.packages[static_cast<size_t>(State::kLoad)][static_cast<size_t>(Urgency::kHigh)],
            1u);
  EXPECT_EQ(view.packages[static_cast<size_t>(State::kLoad)][3], 1u);
  EXPECT_EQ(view.packages[static_cast<size_t>(State::kIdle)][2], 0u);
}

TEST_F(MonitorTest, RatesAreOfTheWindowThatSlides) {
  for (int i = 0; i < 100; ++i) monitor_.CountResult(i % 4 == 0);
  monitor_.Advance(kStart + absl::Seconds(5));
  EXPECT_DOUBLE_EQ(monitor_.View(1).results_per_second, 20);
  EXPECT_DOUBLE_EQ(monitor_.View(1).cooked_per_second, 5);
  monitor_.Advance(kStart + absl::Seconds(9.9));
  for (int i = 0; i < 50; ++i) monitor_.CountResult(true);
  monitor_.Advance(kStart + absl::Seconds(12));
  EXPECT_DOUBLE_EQ(monitor_.View(1).results_per_second, 5) << "the first hundred are long ago";
  monitor_.Advance(kStart + absl::Hours(1));
  EXPECT_DOUBLE_EQ(monitor_.View(1).results_per_second, 0);
  EXPECT_DOUBLE_EQ(monitor_.View(1).cooked_per_second, 0);
}

TEST_F(MonitorTest, NothingKnownIsNothingSaid) {
  EXPECT_EQ(monitor_.View(4).left, std::nullopt);
  Enter(10);
  EXPECT_EQ(monitor_.View(4).left, std::nullopt);
  EXPECT_EQ(monitor_.View(4).unknown, 10u);
}

TEST_F(MonitorTest, WhatIsExpectedIsSharedByTheSlots) {
  Enter(2, State::kLoad);
  monitor_.AddExpected(absl::Seconds(6));
  monitor_.AddExpected(absl::Seconds(2));
  EXPECT_EQ(monitor_.View(4).left, absl::Seconds(2));
  EXPECT_EQ(monitor_.View(0).left, absl::Seconds(8)) << "as if one came";
  monitor_.RemoveExpected(absl::Seconds(6));
  monitor_.CountOver(true);
  EXPECT_EQ(monitor_.View(1).left, absl::Seconds(2));
  EXPECT_EQ(monitor_.View(1).to_cook, 1u);
}

TEST_F(MonitorTest, CostsThatComeOutOtherwiseCorrectWhatIsExpected) {
  Enter(1, State::kLoad);
  monitor_.AddExpected(absl::Seconds(10));
  monitor_.AddMeasurement(absl::Seconds(1), absl::Seconds(3));
  EXPECT_EQ(monitor_.View(1).left, absl::Seconds(30));
  monitor_.AddMeasurement(absl::Seconds(1), absl::Seconds(1000));
  EXPECT_EQ(monitor_.View(1).left, absl::Seconds(100)) << "within bounds";
}

TEST_F(MonitorTest, UnknownPackagesCountAsTheMeanOfThoseThatAreOver) {
  Enter(10);
  // Four packages are over: one was cooked in 8 s, the other three were up to date.
  monitor_.AddMeasurement(absl::Seconds(8), absl::Seconds(8));
  for (int i = 0; i < 4; ++i) monitor_.CountOver(true);
  EXPECT_EQ(monitor_.View(1).unknown, 6u);
  EXPECT_EQ(monitor_.View(1).left, absl::Seconds(12));
  monitor_.CountOver(false);
  EXPECT_EQ(monitor_.View(1).unknown, 7u);
  monitor_.AddExpected(absl::Seconds(5));
  EXPECT_EQ(monitor_.View(1).unknown, 6u);
}

TEST_F(MonitorTest, TheRunningJobThatEndsLastBoundsTheTimeLeftFromBelow) {
  Enter(2, State::kLoad);
  monitor_.AddExpected(absl::Seconds(100));
  monitor_.AddExpected(absl::Seconds(4));
  std::vector<RunningJob> running = {{absl::Seconds(4), absl::Seconds(1)},
                                     {absl::Seconds(100), absl::Seconds(1)}};
  EXPECT_EQ(monitor_.View(8, running).left, absl::Seconds(99)) << "seven slots cannot help";
  running = {{absl::Seconds(100), absl::Seconds(95)}};
  EXPECT_EQ(monitor_.View(8, running).left, absl::Seconds(5));
  EXPECT_EQ(monitor_.View(1, running).left, absl::Seconds(9)) << "5 s, and 4 s that wait";
}

TEST_F(MonitorTest, AJobThatOutlastsWhatWasExpectedHasAsMuchLeftAsItIsLate) {
  Enter(1, State::kLoad);
  monitor_.AddExpected(absl::Seconds(1));
  EXPECT_EQ(monitor_.View(4, std::vector<RunningJob>{{absl::Seconds(1), absl::Seconds(51)}}).left,
            absl::Seconds(50));
}

TEST_F(MonitorTest, BeforeAnyIsOverTheKnownStandForTheUnknown) {
  Enter(4);
  monitor_.AddExpected(absl::Seconds(2));
  EXPECT_EQ(monitor_.View(2).left, absl::Seconds(4));
}

}  // namespace
}  // namespace galley::director
