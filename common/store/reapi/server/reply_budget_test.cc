#include "common/store/reapi/server/reply_budget.h"

#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ReplyBudgetTest : public testing::Test {
 protected:
  ReplyBudget::Outcome Take(int call, size_t bytes) {
    return budget_.Take(&calls_[call], bytes, now_);
  }

  ReplyBudget budget_{100};
  int calls_[8] = {};
  absl::Time now_ = absl::FromUnixSeconds(1000);
};

TEST_F(ReplyBudgetTest, WhatIsTakenMakesRoom) {
  EXPECT_TRUE(Take(0, 60).fits);
  EXPECT_FALSE(Take(1, 60).fits);
  EXPECT_TRUE(Take(2, 40).fits);
  budget_.GiveBack(&calls_[0]);
  budget_.GiveBack(&calls_[0]);
  EXPECT_EQ(budget_.bytes(), 40u);
  EXPECT_TRUE(Take(1, 60).fits);
}

TEST_F(ReplyBudgetTest, RepliesThatNobodyTakesAreEndedForOthersTheLongestFirst) {
  EXPECT_TRUE(Take(0, 40).fits);
  now_ += absl::Seconds(5);
  EXPECT_TRUE(Take(1, 40).fits);
  now_ += absl::Milliseconds(4999);
  EXPECT_THAT(Take(2, 40).ended, IsEmpty());
  now_ += absl::Milliseconds(1);
  const auto outcome = Take(2, 40);
  EXPECT_FALSE(outcome.fits);
  EXPECT_THAT(outcome.ended, ElementsAre(&calls_[0]));
  EXPECT_THAT(Take(3, 40).ended, IsEmpty());  // told only once
  EXPECT_EQ(budget_.bytes(), 80u);
  budget_.GiveBack(&calls_[0]);  // called when the call has ended
  EXPECT_TRUE(Take(2, 40).fits);
}

TEST_F(ReplyBudgetTest, OneThatIsLargerThanAllHasItsTurnAlone) {
  EXPECT_TRUE(Take(0, 1).fits);
  EXPECT_FALSE(Take(1, 1000).fits);
  budget_.GiveBack(&calls_[0]);
  EXPECT_THAT(Take(1, 1000).ended, IsEmpty());
  EXPECT_EQ(budget_.bytes(), 1000u);
}

}  // namespace
}  // namespace galley::store
