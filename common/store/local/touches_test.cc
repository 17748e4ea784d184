#include "common/store/local/touches.h"

#include <string>

#include "gtest/gtest.h"

namespace galley::store {
namespace {

const absl::Time kBegin = absl::FromUnixSeconds(1'000);
const Digest kA = Digest::Of("a");

TEST(TouchesTest, WhatWasToldIsKnownFromThenOn) {
  Touches touches(kBegin);
  EXPECT_FALSE(touches.Have(kA, kBegin));
  touches.Add(kA, kBegin + absl::Seconds(5));
  EXPECT_TRUE(touches.Have(kA, kBegin));
  EXPECT_TRUE(touches.Have(kA, kBegin + absl::Seconds(5)));
  EXPECT_FALSE(touches.Have(kA, kBegin + absl::Seconds(6)));
  EXPECT_FALSE(touches.Have(Digest::Of("b"), kBegin));
}

TEST(TouchesTest, ALaterTellingCounts) {
  Touches touches(kBegin);
  touches.Add(kA, kBegin);
  touches.Add(kA, kBegin + absl::Hours(1));
  EXPECT_TRUE(touches.Have(kA, kBegin + absl::Minutes(59)));
}

TEST(TouchesTest, WhatIsOldIsDroppedInSpans) {
  Touches touches(kBegin);
  for (int minute = 0; minute < 60; ++minute)
    touches.Add(Digest::Of(std::to_string(minute)), kBegin + absl::Minutes(minute));
  EXPECT_EQ(touches.size(), 60u);
  touches.DropBefore(kBegin + absl::Minutes(30));
  EXPECT_LE(touches.size(), 30u + 10);
  for (int minute = 30; minute < 60; ++minute)
    EXPECT_TRUE(touches.Have(Digest::Of(std::to_string(minute)), kBegin)) << minute;
  touches.DropBefore(kBegin + absl::Hours(2));
  EXPECT_EQ(touches.size(), 0u);
}

}  // namespace
}  // namespace galley::store
