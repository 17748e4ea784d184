#include "director/shell/active_cooks.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;

class ActiveCooksTest : public ::testing::Test {
 protected:
  void Add(uint64_t number, bool retry_failed = false) {
    CookOrder order;
    order.request.request = number;
    order.retry_failed = retry_failed;
    cooks_.Add(std::make_shared<ActiveCook>(std::move(order)));
  }
  std::vector<uint64_t> In(CookMask cooks) const {
    std::vector<uint64_t> numbers;
    cooks_.ForEachOf(cooks, [&](const ActiveCook& cook) { numbers.push_back(cook.number()); });
    return numbers;
  }
  ActiveCooks cooks_;
};

TEST_F(ActiveCooksTest, NoticesGoToTheSlotsThatTheCooksHave) {
  for (const uint64_t number : {7, 8, 9}) Add(number);
  cooks_.TakeSlot(7, 3);
  cooks_.TakeSlot(9, 0);
  EXPECT_THAT(In(~CookMask{0}), ElementsAre(9, 7));
  EXPECT_THAT(In(BitOf(3) | BitOf(5)), ElementsAre(7));
  // Another cook gets the slot before the outcome of the first cook is told.
  const std::shared_ptr<ActiveCook> left = cooks_.LeaveSlot(7);
  cooks_.TakeSlot(8, 3);
  EXPECT_THAT(In(BitOf(3)), ElementsAre(8));
  cooks_.Remove(7);
  EXPECT_EQ(left->number(), 7u);
  EXPECT_EQ(cooks_.Find(7), nullptr);
  EXPECT_THAT(In(BitOf(3)), ElementsAre(8));
  EXPECT_EQ(cooks_.All().size(), 2u);
}

TEST_F(ActiveCooksTest, SomebodyRetriesWhileOneOfThemDoes) {
  Add(1);
  EXPECT_FALSE(cooks_.IsAnyRetrying());
  Add(2, /*retry_failed=*/true);
  Add(3);
  EXPECT_TRUE(cooks_.IsAnyRetrying());
  cooks_.Remove(2);
  EXPECT_FALSE(cooks_.IsAnyRetrying());
}

}  // namespace
}  // namespace galley::director
