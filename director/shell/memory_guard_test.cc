#include "director/shell/memory_guard.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::HasSubstr;
using Want = MemoryGuard::Want;

constexpr uint64_t kMiB = 1 << 20;

class MemoryGuardTest : public testing::Test {
 protected:
  Want LookAfter(absl::Duration time, bool is_any_running = true) {
    now_ += time;
    return guard_.Look(now_, is_any_running);
  }

  uint64_t used_ = 10 * kMiB;
  uint64_t held_back_ = 0;  // part of the used memory, held by the allocator
  int trims_ = 0;
  bool is_short_ = false;
  absl::Time now_ = absl::UnixEpoch();
  MemoryGuard guard_{100 * kMiB,
                     {.used = [this] { return used_; },
                      .trim =
                          [this] {
                            ++trims_;
                            used_ -= std::exchange(held_back_, 0);
                          },
                      .set_short = [this](bool is_short) { is_short_ = is_short; }}};
};

TEST_F(MemoryGuardTest, BelowTheSoftLimitNothingIsDone) {
  used_ = 75 * kMiB;
  EXPECT_EQ(LookAfter(absl::Seconds(1)), Want::kNothing);
  EXPECT_EQ(trims_, 0);
}

TEST_F(MemoryGuardTest, AboveTheSoftLimitThingsAreLetGo) {
  used_ = 76 * kMiB;
  EXPECT_EQ(LookAfter(absl::Seconds(1)), Want::kLetGo);
  EXPECT_EQ(LookAfter(absl::Milliseconds(500)), Want::kNothing);  // too soon to ask again
  EXPECT_EQ(LookAfter(absl::Milliseconds(500), false), Want::kLetGo);
  EXPECT_EQ(trims_, 1);
  EXPECT_TRUE(is_short_);
  used_ = 75 * kMiB;
  EXPECT_EQ(LookAfter(absl::Seconds(1)), Want::kNothing);
  EXPECT_FALSE(is_short_);
}

TEST_F(MemoryGuardTest, WhatTheAllocatorHoldsIsNoUse) {
  used_ = 120 * kMiB;
  held_back_ = 60 * kMiB;
  EXPECT_EQ(LookAfter(absl::Seconds(1)), Want::kNothing);
}

TEST_F(MemoryGuardTest, AboveTheHardLimitOneCookEndsAfterTheOther) {
  used_ = 101 * kMiB;
  EXPECT_EQ(LookAfter(absl::Seconds(1)), Want::kEndACook);
  EXPECT_EQ(LookAfter(absl::Seconds(1)), Want::kLetGo);
  EXPECT_EQ(LookAfter(absl::Seconds(4)), Want::kEndACook);
  EXPECT_EQ(LookAfter(absl::Seconds(9), false), Want::kLetGo);  // no cook is there to end
}

TEST_F(MemoryGuardTest, WithoutALimitNobodyLooks) {
  MemoryGuard guard(0,
                    {.used = [] { return ~uint64_t{0}; }, .trim = [] {}, .set_short = [](bool) {}});
  EXPECT_EQ(guard.Look(now_, true), Want::kNothing);
}

TEST_F(MemoryGuardTest, TheLastCookOfTheLowestClassEnds) {
  EXPECT_EQ(MemoryGuard::Choose({{.number = 3, .urgency_class = CookClass::kNightly},
                                 {.number = 4, .urgency_class = CookClass::kNightly},
                                 {.number = 5, .urgency_class = CookClass::kCommit}})
                .number,
            4u);
}

TEST_F(MemoryGuardTest, TheReasonSaysWhatTheCookWouldNeed) {
  used_ = 20 * kMiB;
  LookAfter(absl::Seconds(1), false);
  used_ = 120 * kMiB;
  LookAfter(absl::Seconds(1));
  const MemoryGuard::Cook cook{.number = 1, .packages = 1000, .asked = 3000};
  const std::string reason = guard_.ReasonFor(cook, {cook, {.number = 2, .packages = 1000}});
  EXPECT_THAT(reason, HasSubstr("uses 120.0 MiB of memory, and may use 100.0 MiB"));
  EXPECT_THAT(reason, HasSubstr("1000 packages so far, of about 51.2 KiB each"));
  EXPECT_THAT(reason, HasSubstr("at least 170.0 MiB"));  // 20 + 3000 packages
}

}  // namespace
}  // namespace galley::director
