#include "worker/session/governor.h"

#include "gtest/gtest.h"

namespace galley::worker {
namespace {

constexpr uint64_t kMiB = 1 << 20;

MemoryRoom Room(uint64_t limit, uint64_t left) {
  return {.limit_bytes = limit, .limit_source = "l", .left_bytes = left, .left_source = "machine"};
}

TEST(GovernorTest, AJobIsTakenForTheLargestExecutorOfLateWithABound) {
  Governor governor;
  governor.Sample(Room(16'000 * kMiB, 8'000 * kMiB), 10 * kMiB);
  EXPECT_EQ(governor.need_bytes(), 256 * kMiB);
  governor.Sample(Room(16'000 * kMiB, 8'000 * kMiB), 1'000 * kMiB);
  EXPECT_EQ(governor.need_bytes(), 1'000 * kMiB);
  governor.Sample(Room(1'000 * kMiB, 900 * kMiB), 900 * kMiB);
  EXPECT_EQ(governor.need_bytes(), 500 * kMiB) << "half of the limit";
  Governor small;
  small.Sample(Room(800 * kMiB, 700 * kMiB), 0);
  EXPECT_EQ(small.need_bytes(), 100 * kMiB) << "an eighth of the limit";
}

TEST(GovernorTest, WhatAnExecutorOnceUsedIsForgottenInTime) {
  Governor governor;
  governor.Sample(Room(16'000 * kMiB, 8'000 * kMiB), 4'000 * kMiB);
  for (int i = 0; i < 400; ++i) governor.Sample(Room(16'000 * kMiB, 8'000 * kMiB), 300 * kMiB);
  EXPECT_EQ(governor.need_bytes(), 300 * kMiB);
}

TEST(GovernorTest, ItIsShortBelowTheNeedAndUntilAQuarterMoreIsLeft) {
  Governor governor;
  const auto sample = [&](uint64_t left_mib) {
    return governor.Sample(Room(16'000 * kMiB, left_mib * kMiB), 0);
  };
  EXPECT_FALSE(sample(256));
  EXPECT_TRUE(sample(255));
  EXPECT_TRUE(governor.is_short());
  EXPECT_FALSE(sample(319));
  EXPECT_TRUE(governor.is_short());
  EXPECT_TRUE(sample(320));
  EXPECT_FALSE(governor.is_short());
}

TEST(GovernorTest, YoungJobsAreReservedFor) {
  Governor governor;
  EXPECT_TRUE(governor.HasRoomBeside(9)) << "nothing is known";
  governor.Sample(Room(16'000 * kMiB, 767 * kMiB), 0);
  EXPECT_TRUE(governor.HasRoomBeside(0));
  EXPECT_TRUE(governor.HasRoomBeside(1));
  EXPECT_FALSE(governor.HasRoomBeside(2));
  const uint64_t began = governor.samples();
  EXPECT_TRUE(governor.IsYoung(began));
  governor.Sample(Room(16'000 * kMiB, 767 * kMiB), 0);
  EXPECT_TRUE(governor.IsYoung(began)) << "it may have begun just before";
  governor.Sample(Room(16'000 * kMiB, 767 * kMiB), 0);
  EXPECT_FALSE(governor.IsYoung(began));
}

TEST(GovernorTest, WhereNothingIsKnownItIsNeverShort) {
  Governor governor;
  EXPECT_TRUE(governor.Sample(Room(1'000 * kMiB, 0), 0));
  EXPECT_TRUE(governor.Sample(MemoryRoom{}, 0));
  EXPECT_FALSE(governor.is_short());
  EXPECT_EQ(governor.limit_bytes(), 0u);
}

TEST(GovernorTest, TheLimitIsToldWhenItChangesByMoreThanAnEighth) {
  Governor governor;
  EXPECT_FALSE(governor.TellLimit()) << "unknown";
  const auto sample = [&](uint64_t limit) { governor.Sample(Room(limit, limit), 0); };
  sample(800);
  EXPECT_TRUE(governor.TellLimit());
  EXPECT_FALSE(governor.TellLimit());
  sample(900);
  EXPECT_FALSE(governor.TellLimit());
  sample(901);
  EXPECT_TRUE(governor.TellLimit());
  sample(700);
  EXPECT_TRUE(governor.TellLimit());
}

}  // namespace
}  // namespace galley::worker
