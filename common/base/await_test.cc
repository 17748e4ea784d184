#include "common/base/testing/await.h"

#include "gmock/gmock.h"
#include "gtest/gtest-spi.h"

namespace galley {
namespace {

using testing::HasSubstr;

TEST(AwaitTest, AConditionThatNeverHoldsFailsTheTestWithItsName) {
  EXPECT_NONFATAL_FAILURE(AwaitOrFail([] { return false; }, "a miracle", absl::Milliseconds(3)),
                          "waited 3ms in vain for a miracle");
}

TEST(AwaitTest, AConditionThatComesToHoldEndsTheWait) {
  int looks = 0;
  EXPECT_TRUE(AwaitOrFail([&] { return ++looks == 3; }, "the third look"));
  EXPECT_EQ(looks, 3);
}

TEST(AwaitDeathTest, AWaitThatHangsEndsTheProgramWithItsName) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const WaitLimit limit("a thread that hangs", absl::Milliseconds(3));
        absl::SleepFor(absl::Hours(1));
      },
      "AwaitDeathTest.AWaitThatHangsEndsTheProgramWithItsName: waited 3ms in vain for a thread "
      "that hangs");
}

TEST(AwaitTest, AWaitThatEndsInTimeIsNoFailure) {
  for (int i = 0; i < 100; ++i) const WaitLimit limit("nothing");
}

}  // namespace
}  // namespace galley
