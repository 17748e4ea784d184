#include "common/store/reapi/client/retry.h"

#include "gmock/gmock.h"

namespace galley::store {
namespace {

const absl::Status kDown = absl::UnavailableError("down");

std::vector<absl::Duration> WaitsOf(const RetryOptions& options, uint64_t seed) {
  RetrySchedule schedule(options, seed);
  std::vector<absl::Duration> waits;
  while (const auto wait = schedule.Next(kDown)) waits.push_back(*wait);
  return waits;
}

TEST(RetryScheduleTest, WaitsGrowTwofoldToTheirLimit) {
  EXPECT_THAT(WaitsOf({.tries_max = 10, .jitter = 0}, 1),
              testing::ElementsAre(absl::Milliseconds(50), absl::Milliseconds(100),
                                   absl::Milliseconds(200), absl::Milliseconds(400),
                                   absl::Milliseconds(800), absl::Milliseconds(1600),
                                   absl::Milliseconds(3200), absl::Seconds(5), absl::Seconds(5)));
}

TEST(RetryScheduleTest, FiveTriesAreMade) { EXPECT_EQ(WaitsOf({}, 1).size(), 4u); }

TEST(RetryScheduleTest, JitterIsHalfEitherWayAndTheSeeds) {
  EXPECT_EQ(WaitsOf({}, 7), WaitsOf({}, 7));
  EXPECT_NE(WaitsOf({}, 7), WaitsOf({}, 8));
  absl::Duration least = absl::InfiniteDuration(), most;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const absl::Duration first = WaitsOf({}, seed).front();
    least = std::min(least, first);
    most = std::max(most, first);
  }
  EXPECT_GE(least, absl::Milliseconds(25));
  EXPECT_LT(least, absl::Milliseconds(27));
  EXPECT_LE(most, absl::Milliseconds(75));
  EXPECT_GT(most, absl::Milliseconds(73));
}

TEST(RetryScheduleTest, WhatTheServerAsksForIsWaitedFor) {
  RetrySchedule schedule({}, 1);
  EXPECT_EQ(schedule.Next(kDown, absl::Seconds(3)), absl::Seconds(3));
  EXPECT_EQ(schedule.Next(kDown, absl::Hours(3)), absl::Seconds(30)) << "within limits";
  EXPECT_GT(*schedule.Next(kDown, absl::ZeroDuration()), absl::Milliseconds(50));
}

TEST(RetryScheduleTest, OnlyWhatMayPassIsTriedAgain) {
  const std::vector<absl::StatusCode> retried = {
      absl::StatusCode::kCancelled,        absl::StatusCode::kUnknown,
      absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kResourceExhausted,
      absl::StatusCode::kAborted,          absl::StatusCode::kInternal,
      absl::StatusCode::kUnavailable};
  for (int code = 0; code <= 16; ++code) {
    const auto one = static_cast<absl::StatusCode>(code);
    EXPECT_EQ(IsWorthRetrying(one), std::find(retried.begin(), retried.end(), one) != retried.end())
        << absl::StatusCodeToString(one);
  }
  RetrySchedule schedule({}, 1);
  EXPECT_EQ(schedule.Next(absl::PermissionDeniedError("")), std::nullopt);
}

}  // namespace
}  // namespace galley::store
