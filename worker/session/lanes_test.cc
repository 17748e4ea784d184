#include "worker/session/lanes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(LanesTest, APendingJobLeavesItsSlotToAnother) {
  Lanes lanes(2);
  EXPECT_EQ(lanes.FindLane({}), 0u);
  lanes.AddJob(0, {.attempt = 1});
  lanes.AddJob(1, {.attempt = 2});
  EXPECT_FALSE(lanes.HasFreeSlot());
  EXPECT_EQ(lanes.FindLane({}), std::nullopt);
  EXPECT_TRUE(lanes.SetWaiting(1, true));
  EXPECT_FALSE(lanes.SetWaiting(1, true)) << "it is no news";
  EXPECT_THAT(lanes.pending(), ElementsAre(1));
  EXPECT_EQ(lanes.FindLane({}), 2u);
  EXPECT_TRUE(lanes.SetWaiting(1, false));
  EXPECT_THAT(lanes.pending(), IsEmpty());
  EXPECT_EQ(lanes.RemoveJob(1, 2)->attempt, 2u);
  EXPECT_FALSE(lanes.RemoveJob(1, 2).has_value());
  EXPECT_EQ(lanes.FindLane({}), 1u);
}

TEST(LanesTest, AtMostAsManyJobsArePendingAsThereAreSlots) {
  Lanes lanes(1);
  lanes.AddJob(0, {.attempt = 1});
  lanes.SetWaiting(1, true);
  lanes.AddJob(1, {.attempt = 2});
  lanes.SetWaiting(2, true);
  EXPECT_THAT(lanes.pending(), ElementsAre(1));
  lanes.SetWaiting(1, false);
  EXPECT_THAT(lanes.pending(), ElementsAre(2));
}

TEST(LanesTest, TheOnlySlotGetsShortJobsAheadAndNothingBehindPrograms) {
  Lanes lanes(1);
  lanes.AddJob(0, {.attempt = 1, .expected_us = kAheadUsMax / 2});
  EXPECT_EQ(lanes.FindLane({.expected_us = kAheadUsMax / 2}), 0u);
  EXPECT_EQ(lanes.FindLane({.expected_us = kAheadUsMax}), std::nullopt);
  lanes.AddJob(0, {.attempt = 2, .starts_programs = true});
  EXPECT_EQ(lanes.FindLane({.expected_us = 1}), std::nullopt);
}

TEST(LanesTest, BesideAPendingJobOnlyThatBeginsWhichFits) {
  Lanes lanes(1);
  lanes.AddJob(0, {.attempt = 1, .memory_bytes = 60});
  EXPECT_TRUE(lanes.FitsBesidePending(1, {.memory_bytes = 50}, 100)) << "none is pending";
  lanes.SetWaiting(1, true);
  EXPECT_FALSE(lanes.FitsBesidePending(1, {.memory_bytes = 50}, 100));
  EXPECT_TRUE(lanes.FitsBesidePending(1, {.memory_bytes = 40}, 100));
  EXPECT_TRUE(lanes.FitsBesidePending(1, {}, 100)) << "unknown";
}

}  // namespace
}  // namespace galley::worker
