#include "director/shell/cook_seats.h"

#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using ::testing::ElementsAre;

class CookSeatsTest : public ::testing::Test {
 protected:
  void Add(uint64_t number, bool retry_failed = false) {
    CookOrder order;
    order.request.request = number;
    order.retry_failed = retry_failed;
    seats_.Add(std::make_shared<CookSeat>(std::move(order)));
  }
  std::vector<uint64_t> In(CookMask cooks) const {
    std::vector<uint64_t> numbers;
    seats_.ForEachOf(cooks, [&](const CookSeat& seat) { numbers.push_back(seat.number()); });
    return numbers;
  }
  CookSeats seats_;
};

TEST_F(CookSeatsTest, NoticesGoToTheSlotsThatTheCooksHave) {
  for (const uint64_t number : {7, 8, 9}) Add(number);
  seats_.Sit(7, 3);
  seats_.Sit(9, 0);
  EXPECT_THAT(In(~CookMask{0}), ElementsAre(9, 7));
  EXPECT_THAT(In(BitOf(3) | BitOf(5)), ElementsAre(7));
  // Another cook gets the slot while the first one's outcome is not told yet.
  const std::shared_ptr<CookSeat> left = seats_.Leave(7);
  seats_.Sit(8, 3);
  EXPECT_THAT(In(BitOf(3)), ElementsAre(8));
  seats_.Remove(7);
  EXPECT_EQ(left->number(), 7u);
  EXPECT_EQ(seats_.Find(7), nullptr);
  EXPECT_THAT(In(BitOf(3)), ElementsAre(8));
  EXPECT_EQ(seats_.All().size(), 2u);
}

TEST_F(CookSeatsTest, SomebodyRetriesWhileOneOfThemDoes) {
  Add(1);
  EXPECT_FALSE(seats_.IsAnyRetrying());
  Add(2, /*retry_failed=*/true);
  Add(3);
  EXPECT_TRUE(seats_.IsAnyRetrying());
  seats_.Remove(2);
  EXPECT_FALSE(seats_.IsAnyRetrying());
}

}  // namespace
}  // namespace galley::director
